// Package exec holds the command "rolectl exec": it contends for a role, and runs a command only
// while this process leads the role. Package supervise ends the command before the lease runs out.
//
// Files: exec.go the command and its flags · leadership.go one run, from contending to the outcome
// · session.go the session · work.go the work of one term · completion.go names of instances for
// the shell.
package exec
