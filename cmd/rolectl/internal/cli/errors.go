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

// ErrorDocument is an error as a document: the code is a word that stays, where the message may change.
func ErrorDocument(err error, text string, exit int, command string) errorDocument {
	code, fix := classOf(err, exit)
	return errorDocument{show.Of("error"), errorBody{code, text, strings.ReplaceAll(fix, "COMMAND", command), exit}}
}

// classes are the errors that a program may want to tell apart, the more special ones first.
var classes = []struct {
	code, fix string
	errors    []error
}{
	{"permission", "give this user the permissions of docs/reference/permissions.md, or come as another (--creds, --user, --context)", []error{ErrDenied, election.ErrPermission, nats.ErrPermissionViolation, nats.ErrAuthorization, nats.ErrAuthExpired}},
	{"no_jetstream", "switch JetStream on for the server and this account", []error{election.ErrJetStreamOff, natskv.ErrJetStreamOff}},
	{"bucket_not_found", "rolectl bucket create NAME, or name another (--bucket)", []error{election.ErrBucketNotFound, natskv.ErrBucketNotFound}},
	{"bucket_unfit", "rolectl bucket check NAME --fix", []error{election.ErrBucketUnfit}},
	{"namespace_not_found", "rolectl tasks create NAMESPACE, or name another (--namespace)", []error{assign.ErrStreamNotFound}},
	{"task_not_found", "rolectl tasks ls lists those that there are; outcomes are kept for their retention", []error{assign.ErrTaskNotFound}},
	{"task_dead", "rolectl tasks get TASK says why, rolectl tasks requeue TASK submits it once more", []error{assign.ErrTaskDead}},
	{"task_cancelled", "submit it anew, under another id", []error{assign.ErrTaskCancelled}},
	{"task_expired", "submit it anew, with a longer --deadline", []error{assign.ErrTaskExpired}},
	{"cancel_pending", "start a process that leads the role whose Lead hands tasks out", []error{assign.ErrCancelPending}},
	{"no_scheduler", "start a process that leads the role whose Lead hands tasks out", []error{assign.ErrNoScheduler}},
	{"interrupted", "", []error{ErrInterrupted}},
	{"timeout", "ask again, with a longer --timeout; rolectl doctor says more", []error{context.DeadlineExceeded, nats.ErrTimeout}},
}

// classOf is the code of an error, and what to do about it in general.
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
		return "no_leader", "start a process that contends for the role; rolectl inspect ROLE says why nobody leads"
	case ExitLost:
		return "lost", "start it again, or have it wait for the role again (--on-lost wait)"
	case ExitConnection:
		return "connection", "start a server (rolectl dev), or say where one is (--server, NATS_URL)"
	}
	if errors.As(err, new(*connect.Error)) { // of doctor
		return "connection", "start a server (rolectl dev), or say where one is (--server, NATS_URL)"
	}
	return "failed", ""
}

// WantsJSON reports whether a command line asks for JSON. Where it makes no sense its flags were not all read, and the error
// is to be JSON all the same.
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
