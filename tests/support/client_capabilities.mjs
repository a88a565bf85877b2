// What the clients of the tests say they can do, in LSP's words (3.17, "Initialize Request").

/** A client that knows nothing of Escrow, about as able as the common editors. */
export const plainClient = {
  general: { positionEncodings: ['utf-16'] },
  workspace: {
    applyEdit: true,
    workspaceEdit: { documentChanges: true },
    workspaceFolders: true,
    executeCommand: {},
  },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true, versionSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['', 'quickfix'] } }, dataSupport: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
    codeLens: {},
  },
  window: { workDoneProgress: true, showDocument: { support: true } },
};

/** The same with Escrow's own notifications, as our plugins and embedded agents have it. */
export const escrowClient = {
  ...plainClient,
  experimental: { escrow: { version: 1, notifications: ['review', 'grants', 'exec', 'status'] } },
};

/** The same that also shows questions as pop-ups (window/showMessageRequest). */
export const askingClient = {
  ...escrowClient,
  window: { ...plainClient.window, showMessage: { messageActionItem: { additionalPropertiesSupport: false } } },
};
