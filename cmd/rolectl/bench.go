package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
)

// benchmark is one run of bench: a bucket and a stream of its own on the user's server, and what is measured there.
type benchmark struct {
	a        *app
	rounds   int
	ttl      time.Duration
	replicas int
	storage  jetstream.StorageType
	name     string // of the bucket and of the namespace
	ctx      context.Context
}

func bench(a *app) *cobra.Command {
	b := benchmark{a: a}
	var storage string
	var only []string
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure fail-over, hand-over, heartbeats and tasks on this server",
		Long: `Measure on this server, in a bucket and a task stream of their own that are removed afterwards:

  heartbeat   from sending a heartbeat to its acknowledgement
  handover    from the request to step down to the promotion of the successor; the work returns at once
  failover    from the end of a leader's connection to the promotion of the successor: about the TTL
  task        from submitting a task to its outcome, one at a time

Times are those of processes here; all members are in this one. It needs the permission to make and to delete streams.`,
		Example: "  rolectl bench\n  rolectl bench --replicas 3 --ttl 15s --only failover\n  rolectl bench -o json",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch storage {
			case "file":
			case "memory":
				b.storage = jetstream.MemoryStorage
			default:
				return usage(fmt.Errorf("--storage %q: use file or memory", storage))
			}
			if b.rounds < 1 {
				return usage(fmt.Errorf("--rounds %d: use 1 or more", b.rounds))
			}
			for _, name := range only {
				if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) {
					return usage(fmt.Errorf("--only %q: use heartbeat, handover, failover or task", name))
				}
			}
			b.ctx, b.name = cmd.Context(), "rolectl-bench-"+nuid.Next()
			return b.run(only, storage)
		},
	}
	f := cmd.Flags()
	f.IntVar(&b.rounds, "rounds", 20, "how often the slow ones are repeated; heartbeats and tasks ten times as often")
	f.DurationVar(&b.ttl, "ttl", time.Second, "TTL of the sessions")
	f.IntVar(&b.replicas, "replicas", 1, "on how many servers bucket and stream are kept")
	f.StringVar(&storage, "storage", "file", "file or memory")
	f.StringSliceVar(&only, "only", nil, "measure only these, separated by commas")
	return cmd
}

// measure is one thing that can be measured.
type measure struct {
	name string
	what string
	take func(b *benchmark, sample func(time.Duration)) error
}

var measures = []measure{
	{"heartbeat", "heartbeats", (*benchmark).heartbeat},
	{"handover", "hand-overs", (*benchmark).handover},
	{"failover", "fail-overs", (*benchmark).failover},
	{"task", "tasks", (*benchmark).task},
}

func (b *benchmark) run(only []string, storage string) (err error) {
	nc, err := b.a.connect()
	if err != nil {
		return err
	}
	if _, err := election.NewSession(b.session("check")); err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, b.remove(nc)) }()
	var results []show.Distribution
	for _, m := range measures {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		say("%s ...", m.what)
		var samples []time.Duration
		if err := m.take(b, func(d time.Duration) { samples = append(samples, d) }); err != nil {
			return fmt.Errorf("measure %s: %w", m.what, err)
		}
		results = append(results, show.Distribute(m.name, samples))
	}
	p := b.a.printer()
	if p.Format == "json" {
		return p.JSON(struct {
			show.Document
			Server   string              `json:"server"`
			TTL      float64             `json:"ttl_seconds"`
			Replicas int                 `json:"replicas"`
			Storage  string              `json:"storage"`
			Results  []show.Distribution `json:"results"`
		}{show.Of("bench"), nc.ConnectedServerVersion(), show.Seconds(b.ttl), b.replicas, storage, results})
	}
	t := show.Table{Columns: []string{"MEASURED", "N", "MIN", "P50", "P90", "P99", "MAX"}}
	for _, r := range results {
		t.Rows = append(t.Rows, r.Row())
	}
	if err := p.Print(t); err != nil || p.Format == "name" {
		return err
	}
	for _, r := range results {
		if err := p.Histogram(r); err != nil {
			return err
		}
	}
	return nil
}

func (b *benchmark) session(instance string) election.SessionConfig {
	return election.SessionConfig{
		Bucket: b.name, BucketAutoCreate: true, Replicas: b.replicas, Storage: b.storage, InstanceID: instance, TTL: b.ttl,
		CoolDown: time.Millisecond, // whoever has stepped down is to be the next successor
	}
}

// remove deletes what was made. Whether it was made is not asked: an interrupted run may have begun to.
func (b *benchmark) remove(nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.target.Timeout)
	defer cancel()
	for _, stream := range []string{"KV_" + b.name, "TASKS_" + b.name} {
		if err := js.DeleteStream(ctx, stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("remove what was measured with (nats stream rm %s): %w", stream, err)
		}
	}
	return nil
}
