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

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
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
	stop     context.CancelCauseFunc

	promotions chan time.Time // of all who have joined; room for those that nobody waits for
}

func bench(a *app) *cobra.Command {
	b := benchmark{a: a, promotions: make(chan time.Time, 1024)}
	var storage string
	var only []string
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure fail-over, hand-over, heartbeats and tasks on this server",
		Long: `Measure on this server, in a bucket and a task stream of their own that are removed afterwards:

  heartbeat   from sending a heartbeat to its acknowledgement
  handover    from the request to step down to the next promotion, the successor's as a rule; the work returns at once
  failover    from the end of a leader's connection to the promotion of the successor: about the TTL
  task        from submitting a task to its outcome, one at a time

Times are those of processes here; all members are in this one. It needs the permission to make and to delete streams.`,
		Example: "  rolectl bench\n  rolectl bench --replicas 3 --ttl 15s --only failover\n  rolectl bench -o json",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.whileRead(cmd)()
			if b.rounds < 1 {
				return usage(fmt.Errorf("--rounds %d: use 1 or more", b.rounds))
			}
			for _, name := range only {
				if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) {
					return usage(fmt.Errorf("--only %q: use heartbeat, handover, failover or task", name))
				}
			}
			ctx, stop := context.WithCancelCause(cmd.Context())
			defer stop(nil)
			b.ctx, b.stop, b.name, b.storage = ctx, stop, "rolectl-bench-"+nuid.Next(), storageOf(storage)
			return b.run(only, storage)
		},
	}
	f := cmd.Flags()
	f.IntVar(&b.rounds, "rounds", 20, "how often the slow ones are repeated; heartbeats and tasks ten times as often")
	atLeast(cmd, &b.ttl, "ttl", leastTTL, time.Second, "TTL of the sessions")
	replicasFlag(cmd, &b.replicas)
	storageFlag(cmd, &storage)
	f.StringSliceVar(&only, "only", nil, "measure only these, separated by commas")
	completeFlag(cmd, "only", "heartbeat", "handover", "failover", "task")
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
	if _, err := election.NewSession(b.session("check")); err != nil {
		return usage(err)
	}
	nc, release, err := b.connect()
	if err != nil {
		return err
	}
	defer release()
	if err := b.answers(nc); err != nil {
		if b.ctx.Err() != nil && !errors.Is(context.Cause(b.ctx), errLost) {
			return errInterrupted
		}
		return err
	}
	if err := b.make(nc); err != nil {
		if natskv.Permanent(err) { // it was refused: there is nothing to remove
			return unplaced(err, b.replicas)
		}
		return errors.Join(unplaced(err, b.replicas), b.remove(nc))
	}
	defer func() {
		if err = b.reason(nc, err); errors.Is(err, errLost) {
			return
		}
		left := b.remove(nc)
		if left != nil && !nc.IsConnected() { // it went just now; then that is why, whatever has failed before
			err = b.lost()
		} else {
			err = errors.Join(err, left)
		}
	}()
	if err := b.makeTasks(nc); err != nil {
		return err
	}
	var results []show.Distribution
	for _, m := range measures {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		b.a.say("%s ...", m.what)
		var samples []time.Duration
		if err := m.take(b, func(d time.Duration) { samples = append(samples, d) }); err != nil {
			if b.ctx.Err() == nil {
				err = fmt.Errorf("%w (if server or machine are busy, give a longer --ttl than %v)", err, b.ttl)
			}
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

// answers makes sure of a server that answers before anything is made there: what a mute one has made could not be removed.
func (b *benchmark) answers(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(b.ctx, b.a.target.Timeout)
	defer cancel()
	if _, err := natskv.Inspect(ctx, nc, b.name); err != nil && !errors.Is(err, natskv.ErrBucketNotFound) {
		return err
	}
	return nil
}

// make makes the bucket that is measured with. An interrupt does not end that: what the server has not answered for could come
// to be after it was removed.
func (b *benchmark) make(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.target.Timeout)
	defer cancel()
	cfg := natskv.Config{Bucket: b.name, Replicas: b.replicas, Storage: b.storage, MaxTTL: max(natskv.DefaultMaxTTL, b.ttl)}
	_, err := natskv.Create(ctx, nc, cfg)
	return err
}

// makeTasks makes the stream of tasks, likewise.
func (b *benchmark) makeTasks(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.target.Timeout)
	defer cancel()
	return createTasks(ctx, nc, assign.ClientConfig{Namespace: b.name, StreamAutoCreate: true, Replicas: b.replicas, Storage: b.storage})
}

func (b *benchmark) session(instance string) election.SessionConfig {
	return election.SessionConfig{
		Bucket: b.name, InstanceID: instance, TTL: b.ttl,
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
