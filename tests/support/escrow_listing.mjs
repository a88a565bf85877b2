// What the server sends in Escrow's own methods, as types. protocol/README.md is the specification: its declarations are
// read from there and join these, and support.test.mjs holds this listing to its examples.
export const kEscrowListing = `
interface Grant {
  id?: string; effect: "allow" | "deny"; tool: string; match?: string; subject?: string; callId?: string; scope: Scope;
  workspace?: string; session?: string; autonomy: Autonomy; createdAt?: number; expiresAt?: number; reason?: string;
}
interface Allowed {
  decision: "allow"; risk: Risk; clause?: string; grantId?: string; executionToken: string; expiresAt: number;
  constraints: { profile: string; network: string[]; writable: Writable };
}
interface Denied { decision: "deny"; risk: Risk; clause: string; reason: string; forAgent: string; remedies: Remedy[] }
interface Pending { decision: "pending"; risk: Risk; reviewId: string; revision: number; expiresAt: number }
type Writable = "overlay" | "none" | "direct";

type ReviewKind = "call" | "change";
type ReviewState =
  | "pending" | "checking" | "approved" | "rejected" | "applied" | "stale" | "expired" | "withdrawn" | "failed" | "unverified";
type FileStatus = "A" | "M" | "D" | "R" | "T";
interface ReviewHunk { id: string; range: Range; score: number; signals: number[]; mark?: "undecided" | "approved" | "rejected" }
interface ReviewFile {
  uri: URI; status: FileStatus; oldUri?: URI; oldMode?: string; newMode?: string; added: number; removed: number;
  before: URI; after: URI; hunks: ReviewHunk[];
}
interface Check { name: string; state: "running" | "passed" | "failed" | "skipped"; required: boolean; detail?: string }
interface Review {
  reviewId: string; revision: number; kind: ReviewKind; state: ReviewState; lane: Lane; title: string; risk: Risk;
  agent?: string; createdAt?: number; expiresAt?: number; subject?: Subject; files: ReviewFile[]; checks: Check[];
  notes?: string[]; undoId?: string;
}
interface Applied {
  state: "applied" | "refused" | "unverified"; reason?: string; undoId?: string;
  files: { uri: URI; via: "editor" | "disk"; sha256?: string;
           result: "written" | "deleted" | "declined" | "unverified" | "stale" | "untouched" }[];
}
interface Nonce { nonce: string; expiresAt: number }

interface Enforcement { backend: string; level: "sandbox" | "policy-only"; layers: string[]; writable: string; memory: string }
interface Started { decision: "allow"; execId: string; backend: string; enforcement: Enforcement; startedAt: number }
interface Exited {
  execId: string; exitCode: number | null; signal: number | null; reason: "exit" | "timeout" | "limit" | "killed" | "policy";
  error?: string; usage: { cpuMs: number; maxRssBytes: number }; durationMs?: number; enforcement: Enforcement;
  violations: { kind: "egress" | "path" | "syscall" | "limit" | "socket" | "symlink" | "outside-workspace";
                detail: string; remedy?: Remedy }[];
  changes?: { reviewId: string; lane: Lane; files: { uri: URI; status: FileStatus; added: number; removed: number }[] };
  outputSignals?: Signal[];
}
interface Status {
  version: string; policyVersion: string; mode: "enforce" | "observe" | "disabled"; locked: boolean;
  enforcement: "sandbox" | "policy-only"; pending: number; running: string[]; agents: number; message?: string;
  pool?: { ready: number; wanted: number; warm: number; cold: number; slow: number; typicalMs: number; worstMs: number; goalMs: number };
}

result escrow/agent/register { agentId: string; token: string; policyVersion: string }
result escrow/agent/end null
result escrow/toolCall Allowed | Denied | Pending
result escrow/proposeDiff Review
result escrow/review/list { reviews: Review[] }
result escrow/review/get Review
result escrow/review/content { text: string }
result escrow/review/approve Review
result escrow/review/reject Review
result escrow/review/nonce Nonce
result escrow/apply Applied
result escrow/apply/undo Applied
result escrow/execute Started | Denied | Pending
result escrow/execute/wait Exited | null
result escrow/execute/read { data: string; encoding: "utf-8" | "base64"; offset: number; nextOffset: number; end: boolean }
result escrow/execute/write null
result escrow/execute/kill null
result escrow/grants/list { grants: Grant[]; notes?: string[] }
result escrow/grants/add Grant
result escrow/grants/revoke { revoked: number }
result escrow/grants/nonce Nonce
result escrow/policy/get {
  policy: object; origins: Record<string, string>; backend: string; available: boolean; message: string;
  restrictions: { kind: string; text: string }[]; grantsPath: string }
result escrow/policy/explain { decision: "allow" | "prompt" | "deny"; clause: string; reason: string; risk: Risk; trace: string[] }
result escrow/policy/reload { policyVersion: string; notes: string[] }
result escrow/audit/query { entries: object[] }
result escrow/audit/verify { ok: boolean; entries: number; lastHash: string; problem?: string }
result escrow/status Status

params escrow/review/changed { reviewId: string; revision: number; kind: ReviewKind; state: ReviewState; lane: Lane; title: string }
params escrow/grants/changed {}
params escrow/status/changed Status
params escrow/execute/output {
  execId: string; seq: number; stream: "out" | "err"; data: string; encoding: "utf-8" | "base64"; offset: number; dropped?: number }
params escrow/execute/exited Exited
`;
