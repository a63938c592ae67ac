package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Others says which buckets or namespaces are there instead of one that is missing, "" if the error
// is about nothing of that kind, if there is none, or if they cannot be seen.
func (a *App) Others(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, election.ErrBucketNotFound), errors.Is(err, natskv.ErrBucketNotFound):
		return a.there(ctx, "buckets", "KV_")
	case errors.Is(err, assign.ErrStreamNotFound), errors.Is(err, ErrNoNamespace):
		return a.there(ctx, "namespaces", "TASKS_")
	}
	return ""
}

func (a *App) there(ctx context.Context, what, prefix string) string {
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	if a.Conn == nil { // there was no need of a server yet
		a.Settings.Timeout = completeWithin
	}
	nc, err := a.Connect()
	if err != nil {
		return ""
	}
	names, err := StreamNames(ctx, nc, a.Reach(), prefix)
	if err != nil || len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; " + what + " there: " + wording.FirstFew(names)
}

// ErrNoNamespace says that a command about tasks was given no namespace.
var ErrNoNamespace = UsageError(errors.New("the namespace is missing: give --namespace, or set TASKS_NAMESPACE"))
