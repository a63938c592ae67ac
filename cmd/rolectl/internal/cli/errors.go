package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// errorDocument is an error in JSON documents.
type errorDocument struct {
	show.Document
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	Exit    int    `json:"exit"`
}

// ErrorDocument returns an error as a JSON document. Its code never changes; its message may.
func ErrorDocument(err error, text string, exit int, command string) errorDocument {
	code, fix := classOf(err, exit)
	return errorDocument{show.Of("error"), errorBody{code, text, strings.ReplaceAll(fix, "COMMAND", command), exit}}
}

// classes are the errors that a program can tell apart, special ones before general ones.
var classes = []struct {
	code, fix string
	errors    []error
}{
	{
		"permission",
		"give this user the permissions of docs/reference/permissions.md, or connect as another user (--creds, --user, " +
			"--context)",
		[]error{
			ErrDenied, election.ErrPermission, nats.ErrPermissionViolation, nats.ErrAuthorization,
			nats.ErrAuthExpired,
		},
	},
	{
		"no_jetstream", "enable JetStream on the server and for this account",
		[]error{election.ErrJetStreamOff, natskv.ErrJetStreamOff},
	},
	{
		"bucket_not_found", "rolectl bucket create NAME, or give another --bucket",
		[]error{election.ErrBucketNotFound, natskv.ErrBucketNotFound},
	},
	{
		"bucket_old_format", "stop every process that uses it, then nats kv del NAME and rolectl bucket create NAME",
		[]error{election.ErrOldFormat},
	},
	{
		"other_bucket",
		"connect to the servers of one NATS system and give its domain (--js-domain); " +
			"if the bucket was recreated, start again",
		[]error{election.ErrOtherBucket, natskv.ErrOtherBucket},
	},
	{
		"copied_bucket", "rolectl bucket adopt NAME makes a copy a bucket of its own",
		[]error{election.ErrCopiedBucket, natskv.ErrCopiedBucket},
	},
	{
		"adopting", "wait for rolectl bucket adopt NAME to end; if it was interrupted, run it again",
		[]error{election.ErrAdopting, natskv.ErrAdopting, natskv.ErrAdoptedByAnother},
	},
	{
		"no_domain", "give the domain that keeps it (--js-domain)",
		[]error{election.ErrNoDomain, natskv.ErrNoDomain},
	},
	{
		"no_backup", "give the name of the bucket and a directory that nats stream backup KV_NAME has written",
		[]error{natskv.ErrNoBackup},
	},
	{
		"store_regressed", "after a restore or a rollback, run rolectl bucket adopt NAME; then start again",
		[]error{election.ErrStoreRegressed},
	},
	{"role_kept", "rolectl inspect ROLE shows who leads or wants it", []error{election.ErrRoleKept}},
	{"bucket_unfit", "rolectl bucket create NAME, and give its name (--bucket)", []error{natskv.ErrOrdinary}},
	{"bucket_unfit", "rolectl bucket check NAME --fix", []error{election.ErrBucketUnfit}},
	{
		"namespace_not_found", "rolectl tasks create NAMESPACE, or give another --namespace",
		[]error{assign.ErrStreamNotFound},
	},
	{
		"task_not_found", "rolectl tasks ls lists the tasks that exist; outcomes are kept for their retention",
		[]error{assign.ErrTaskNotFound},
	},
	{
		"task_dead", "rolectl tasks get TASK shows why; rolectl tasks requeue TASK submits it again",
		[]error{assign.ErrTaskDead},
	},
	{"task_cancelled", "submit it again, under another id", []error{assign.ErrTaskCancelled}},
	{"task_expired", "submit it again, with a longer --deadline", []error{assign.ErrTaskExpired}},
	{"task_skipped", "rolectl tasks get TASK names the tasks that it waited for", []error{assign.ErrTaskSkipped}},
	{
		"task_needed", "rolectl tasks ls shows the tasks that are open, rolectl tasks get TASK what each waits for",
		[]error{assign.ErrTaskNeeded},
	},
	{
		"unknown_key", "give a file that has the key (--key-file)",
		[]error{assign.ErrUnknownKey},
	},
	{
		"tampered", "submit the task again: what is stored is not what was sealed for it",
		[]error{assign.ErrTampered},
	},
	{"cancel_pending", "start a process that leads the scheduler role", []error{assign.ErrCancelPending}},
	{
		"no_scheduler", "start a process that leads the scheduler role; one that has crashed holds it until its lease ends",
		[]error{assign.ErrNoScheduler},
	},
	{"interrupted", "", []error{ErrInterrupted}},
	{
		"timeout", "try again, with a longer --timeout; rolectl doctor tells more",
		[]error{context.DeadlineExceeded, nats.ErrTimeout},
	},
}

// classOf returns the code of an error, and what to do about it in general.
func classOf(err error, exit int) (code, fix string) {
	if exit == ExitUsage || CodeOf(err) == ExitUsage {
		return "usage", "see COMMAND --help"
	}
	for _, c := range classes {
		for _, is := range c.errors {
			if errors.Is(err, is) {
				return c.code, c.fix
			}
		}
	}
	switch exit {
	case ExitNoLeader:
		return "no_leader", "start a process that contends for the role; rolectl inspect ROLE shows why nobody leads"
	case ExitLost:
		return "lost", "start it again, or let it wait for the role again (--on-lost wait)"
	case ExitConnection:
		return "connection", "start a server (rolectl dev), or give its address (--server, NATS_URL)"
	}
	if errors.As(err, new(*connect.Error)) { // of doctor
		return "connection", "start a server (rolectl dev), or give its address (--server, NATS_URL)"
	}
	return "failed", ""
}

// WantsJSON reports whether a command line asks for JSON. It reads the arguments itself: after a
// usage error the flags may not have been parsed, and the error must be JSON nevertheless.
func WantsJSON(args []string) bool {
	format := ""
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return format == "json"
		case name == "-o" || name == "--output":
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			format = value
		case strings.HasPrefix(arg, "-o"):
			format = strings.TrimPrefix(arg, "-o")
		}
	}
	return format == "json"
}
