package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// completeWithin is how long a press of the tab key may take.
const completeWithin = time.Second

// CompleteLive asks the server for names. Without a server it offers none and prints nothing,
// because the user is typing.
func (a *App) CompleteLive(names func(ctx context.Context, nc *nats.Conn) ([]string, error)) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	a.Settings.Timeout = completeWithin
	nc, err := a.Connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer a.Disconnect()
	ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
	defer cancel()
	found, err := names(ctx, nc)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for i, name := range found {
		found[i] = wording.Clean(name)
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// CompleteBuckets offers the key-value buckets of the account.
func (a *App) CompleteBuckets(_ *cobra.Command, args []string,
	_ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.CompleteLive(func(ctx context.Context, nc *nats.Conn) ([]string, error) {
		return StreamNames(ctx, nc, a.Reach(), "KV_")
	})
}

// StreamNames returns the names of streams that begin with a prefix, without the prefix.
func StreamNames(ctx context.Context, nc *nats.Conn, reach natskv.Reach, prefix string) (names []string, err error) {
	js, err := reach.JetStream(nc)
	if err != nil {
		return nil, err
	}
	found := js.StreamNames(ctx)
	for name := range found.Name() {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	if err := found.Err(); errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return nil, natskv.ErrJetStreamOff
	}
	return names, found.Err()
}
