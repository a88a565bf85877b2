;;; eglot_test.el --- Escrow in an unmodified Emacs with Eglot  -*- lexical-binding: t -*-

;; Journeys 1 and 2 with Emacs's own client (28: package eglot; 29 and later: built in), no package of ours.  The same
;; Emacs plays the agent, by custom requests over Eglot's connection, and the person, by Flymake's diagnostics and
;; Eglot's code actions.  Waits are for conditions, each bounded.

(require 'cl-lib)
(unless (require 'eglot nil t)
  (require 'package)
  (dolist (directory '("/usr/share/emacs/site-lisp/elpa" "/usr/share/emacs/site-lisp/elpa-src"))
    (add-to-list 'package-directory-list directory))
  (package-initialize)
  (unless (require 'eglot nil t)
    (princ "eglot is missing; `./dev test` installs it\n" #'external-debugging-output)
    (kill-emacs 1)))
(require 'flymake)

(defconst place (file-name-as-directory (or (getenv "ESCROW_TEST_PLACE") (error "Run me by eglot.sh"))))
(defconst project (concat place "project/"))
(defconst patience 15 "Seconds.")

(setq make-backup-files nil
      create-lockfiles nil
      eglot-sync-connect patience
      eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil)
(add-to-list 'eglot-server-programs '(js-mode . ("escrow_lsp")))

;; A question in the minibuffer would block a batch for ever: it gets C-g, and is remembered, for none should come.
(defvar questions nil)
(dolist (reader '(completing-read read-from-minibuffer read-string y-or-n-p yes-or-no-p))
  (advice-add reader :override (lambda (prompt &rest _) (push prompt questions) (signal 'quit nil))))

(defvar passed 0)

(defun say (format &rest arguments)
  (princ (concat (apply #'format format arguments) "\n")))

(defun expect (value format &rest arguments)
  (unless value (error "%s" (apply #'format format arguments)))
  value)

(defun be-idle ()
  "What Eglot's idle timer does, which a batch never starts: send the changes that the buffer has gathered."
  (when (eglot-current-server) (eglot--signal-textDocument/didChange)))

(defun wait-for (what condition)
  "Run the event loop until CONDITION holds; give its value."
  (let ((deadline (+ (float-time) patience)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) deadline))
      (be-idle)
      (condition-case nil (accept-process-output nil 0.02) (quit nil)))
    (expect value "waited %d s for %s" patience what)))

(defmacro step (name &rest body)
  "Run BODY; on an error say that NAME failed, and stop the test."
  (declare (indent 1))
  `(condition-case problem
       (progn ,@body (cl-incf passed) (say "ok   - %s" ,name))
     (error
      (say "FAIL - %s: %s" ,name (error-message-string problem))
      (say "emacs %s: %d passed, 1 failed" emacs-version passed)
      (kill-emacs 1))))

(defun server () (eglot-current-server))
(defun uri (path) (eglot--path-to-uri path))

(defun send (method params)
  "Send METHOD; give a cons whose cdr turns to (ok RESULT) or (error PROBLEM)."
  (let ((answer (list 'answer)))
    (jsonrpc-async-request (server) method params :timeout 60
                           :success-fn (lambda (result) (setcdr answer (list 'ok result)))
                           :error-fn (lambda (problem) (setcdr answer (list 'error problem)))
                           :timeout-fn (lambda () (setcdr answer (list 'error "timeout"))))
    answer))

(defun ask (method params)
  "Send METHOD and give its result.  Not by `jsonrpc-request': what follows its answer in one read waits for the next."
  (let ((answer (send method params)))
    (wait-for (format "the answer to %s" method) (lambda () (cdr answer)))
    (expect (eq (cadr answer) 'ok) "%s: %S" method (caddr answer))
    (caddr answer)))

(defun ours ()
  "Flymake's diagnostics of this buffer, as (LINE . TEXT)."
  (flymake-start) ; by itself it waits for a display, and a batch has none
  (mapcar (lambda (diagnostic)
            (cons (line-number-at-pos (flymake-diagnostic-beg diagnostic)) (flymake-diagnostic-text diagnostic)))
          (flymake-diagnostics)))

(defun shown (text)
  "The line of the diagnostic that holds TEXT, or nil."
  (car (cl-find-if (lambda (diagnostic) (string-search text (cdr diagnostic))) (ours))))

(defun actions-on (line)
  (goto-char (point-min))
  (forward-line (1- line))
  (append (eglot-code-actions (line-beginning-position) (line-end-position) nil nil) nil))

(defun titles (actions)
  (mapconcat (lambda (action) (plist-get action :title)) actions " | "))

(defun titled (action beginning)
  "True if ACTION's title begins so, after the name that tells whose action it is."
  (string-prefix-p (concat "Escrow: " beginning) (plist-get action :title)))

(defun click (actions beginning)
  "Execute the one of ACTIONS whose title starts with BEGINNING, as Eglot does for a chosen one."
  (let* ((action (expect (cl-find-if (lambda (each) (titled each beginning)) actions)
                         "no action \"%s…\" in: %s" beginning (titles actions)))
         (command (plist-get action :command))
         (command (if (stringp command) action command)))
    (eglot-execute-command (server) (intern (plist-get command :command)) (plist-get command :arguments))))

(defvar agent nil)
(defun as-agent (&rest params)
  (append (list :agentId (plist-get agent :agentId) :token (plist-get agent :token)) params))

(let (review waiting)
  (step "the server starts in the repository"
    (find-file (concat project "src/client.js"))
    (js-mode)
    (apply #'eglot (eglot--guess-contact))
    (expect (server) "no connection")
    (expect (eglot--server-capable :executeCommandProvider) "no commands in its capabilities"))

  (step "an agent in this editor registers"
    (setq agent (ask :escrow/agent/register '(:name "Test agent")))
    (expect (plist-get agent :token) "no credential: %S" agent))

  (step "a change that trusts any certificate takes the high lane"
    (setq review
          (ask :escrow/proposeDiff
               (as-agent
                :callId "change-1"
                :title "Make the client work behind the proxy"
                :change
                (list :form "edit"
                      :edit (list :changes
                                  (list (intern (concat ":" (uri buffer-file-name)))
                                        (vector (list :range '(:start (:line 6 :character 24) :end (:line 6 :character 28))
                                                      :newText "false"))))))))
    (expect (equal (plist-get review :lane) "high") "lane %s" (plist-get review :lane)))

  (step "its diagnostics stand on the very line"
    (let ((line (wait-for "a diagnostic about certificates" (lambda () (shown "certificate")))))
      (expect (= line 7) "on line %d, not 7" line)))

  (step "a call that needs the person is shown on the first line of the file at hand"
    (setq waiting (send :escrow/toolCall
                        (as-agent :callId "install-1" :tool "shell" :runner "escrow" :wait "human"
                                  :subject (list :kind "shell" :command "npm install left-pad" :cwd (uri project)))))
    (let ((line (wait-for "the pending call as a diagnostic"
                          (lambda () (or (and (cdr waiting) 0) (shown "npm install left-pad"))))))
      (expect (null (cdr waiting)) "it was answered unasked: %S" (cdr waiting))
      (expect (= line 1) "it is on line %d" line)))

  (step "its code actions come in the order of the contract"
    (let ((actions (actions-on 1))
          (order '("Show" "Deny" "Allow once" "Allow for this session" "Always allow here")))
      (expect (= (length actions) (length order)) "wanted %d actions, got: %s" (length order) (titles actions))
      (cl-loop for action in actions
               for beginning in order
               do (expect (titled action beginning) "not in order: %s" (titles actions))
               do (expect (null (plist-get action :edit)) "\"%s\" is not a mere command" (plist-get action :title)))
      (expect (null (cdr waiting)) "listing the actions answered the call")))

  (step "*Allow once* answers the waiting call"
    (click (actions-on 1) "Allow once")
    (wait-for "the waiting call" (lambda () (cdr waiting)))
    (expect (eq (cadr waiting) 'ok) "the call failed: %S" (cddr waiting))
    (expect (equal (plist-get (caddr waiting) :decision) "allow") "answer %S" (caddr waiting))
    (wait-for "the question to be gone" (lambda () (null (shown "npm install left-pad")))))

  (step "*Approve* and apply: the buffer holds the change"
    (click (actions-on 7) "Approve all")
    (wait-for "the approval"
              (lambda () (equal "approved" (plist-get (ask :escrow/review/get (list :reviewId (plist-get review :reviewId)))
                                                      :state))))
    (let ((applied (ask :escrow/apply (as-agent :reviewId (plist-get review :reviewId)
                                                :revision (plist-get review :revision)))))
      (expect (equal (plist-get applied :state) "applied") "state %S" applied))
    (goto-char (point-min))
    (expect (search-forward "rejectUnauthorized: false" nil t) "the buffer is as before"))

  (step "nothing blocked the minibuffer, and the server ends when told to"
    (expect (null questions) "asked in the minibuffer: %S" questions)
    (let ((process (jsonrpc--process (server))))
      (eglot-shutdown (server) nil patience)
      (expect (not (process-live-p process)) "it still runs"))))

(set-buffer-modified-p nil)
(say "emacs %s: %d passed, 0 failed" emacs-version passed)
;;; eglot_test.el ends here
