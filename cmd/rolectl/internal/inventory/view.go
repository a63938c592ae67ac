package inventory

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
)

// View is a bucket as the reading commands see it: the Observer knows what it means, and Records
// what is stored in it.
type View struct {
	*election.Observer
	*Records
}

// OpenView opens the bucket; read-only permissions suffice. With workers it also shows worker-only
// members. ctx bounds the opening only.
func OpenView(ctx context.Context, a *cli.App, workers bool, wrote func(Record)) (*View, error) {
	nc, err := a.Connect()
	if err != nil {
		return nil, err
	}
	bucket := a.Bucket
	options := Reaching(a)
	if workers {
		options = append(options, election.WithWorkers())
	}
	o, err := election.Observe(ctx, nc, bucket, options...)
	if err != nil {
		return nil, err
	}
	l, err := OpenRecords(ctx, nc, a.Reach(), bucket, workers, wrote)
	if err != nil {
		o.Close()
		return nil, err
	}
	return &View{o, l}, nil
}

// Look connects and opens the bucket for a command, within --timeout. See OpenView.
func Look(cmd *cobra.Command, a *cli.App, workers bool, wrote func(Record)) (*View, error) {
	ctx, cancel, _, err := a.ConnectFor(cmd)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return OpenView(ctx, a, workers, wrote)
}

// Reaching are the options of an observer for the JetStream that the flags name.
func Reaching(a *cli.App) []election.ObserveOption {
	return []election.ObserveOption{election.WithDomain(a.Target.Domain), election.WithAPIPrefix(a.Target.APIPrefix)}
}

// Close ends the view.
func (s *View) Close() {
	s.Observer.Close()
	s.Records.Close()
}
