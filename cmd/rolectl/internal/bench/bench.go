package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// benchmark is one run of bench, with a bucket and a stream of its own on the user's server.
type benchmark struct {
	a        *cli.App
	rounds   int
	ttl      time.Duration
	replicas int
	storage  jetstream.StorageType
	maxBytes int64
	name     string // of the bucket and of the namespace
	ctx      context.Context
	stop     context.CancelCauseFunc

	promotions chan time.Time // of all participants; with room for those that nobody waits for
}

// Command is the command "rolectl bench".
func Command(a *cli.App) *cobra.Command {
	b := benchmark{a: a}
	var storage string
	var only []string
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure fail-over, hand-over, heartbeats and tasks on this server",
		Long: `Measure on this server, in a new bucket and a new task stream, which are removed afterwards:

  heartbeat   a conditional write like a heartbeat, from asking for it to its acknowledgement
  handover    from the request to step down to the next promotion, normally of the successor; the work returns at once
  failover    from the end of a leader's connection to the promotion of the successor: about the TTL
  task        from submitting a task to its outcome, one at a time

Times include this process, which holds all members. The command needs the permission to create and delete streams.
It measures the JetStream of the server that it connects to, and so it refuses a domain and an API prefix.`,
		Example: "  rolectl bench\n  rolectl bench --replicas 3 --ttl 15s --only failover\n  rolectl bench -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer a.EndWhenUnread(cmd)()
			for _, name := range only {
				if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) {
					return cli.UsageError(fmt.Errorf("--only %q: use heartbeat, handover, failover or task", name))
				}
			}
			ctx, stop := context.WithCancelCause(cmd.Context())
			defer stop(nil)
			b.ctx, b.stop, b.name, b.storage = ctx, stop, "rolectl-bench-"+nuid.Next(), cli.StorageType(storage)
			b.promotions = make(chan time.Time, 1024)
			return b.run(only, storage)
		},
	}
	f := cmd.Flags()
	b.rounds = 20
	cli.IntFlag(cmd, &b.rounds, "rounds", 1, 1_000_000,
		"how often to repeat handover and failover; heartbeat and task are repeated ten times as often")
	cli.DurationFlag(cmd, &b.ttl, "ttl", cli.MinTTL, time.Second, "TTL of the sessions")
	cli.ReplicasFlag(cmd, &b.replicas)
	cli.StorageFlag(cmd, &storage)
	cli.MaxBytesFlag(cmd, &b.maxBytes)
	f.StringSliceVar(&only, "only", nil, "measure only these, separated by commas")
	cli.CompleteFlag(cmd, "only", "heartbeat", "handover", "failover", "task")
	return cmd
}

// measure is one thing that can be measured.
type measure struct {
	name   string
	plural string
	run    func(b *benchmark, sample func(time.Duration)) error
}

var measures = []measure{
	{"heartbeat", "heartbeats", (*benchmark).heartbeat},
	{"handover", "hand-overs", (*benchmark).handover},
	{"failover", "fail-overs", (*benchmark).failover},
	{"task", "tasks", (*benchmark).task},
}

func (b *benchmark) run(only []string, storage string) (err error) {
	if _, err := election.NewSession(b.session("check")); err != nil {
		return cli.UsageError(err)
	}
	nc, release, err := b.connect()
	if err != nil {
		return err
	}
	defer release()
	if err := b.checkServer(nc); err != nil {
		if b.ctx.Err() != nil && !errors.Is(context.Cause(b.ctx), errLost) {
			return cli.ErrInterrupted
		}
		return err
	}
	if err := b.make(nc); err != nil {
		if natskv.Permanent(err) { // refused: there is nothing to remove
			return cli.PlacementError(err, b.replicas)
		}
		return errors.Join(cli.PlacementError(err, b.replicas), b.remove(nc))
	}
	defer func() {
		if err = b.reason(nc, err); errors.Is(err, errLost) {
			return
		}
		left := b.remove(nc)
		if left != nil && !nc.IsConnected() { // the connection was just lost, and is the cause
			err = b.lost()
		} else {
			err = errors.Join(err, left)
		}
	}()
	if err := b.makeTasks(nc); err != nil {
		return cli.PlacementError(err, b.replicas)
	}
	var results []show.Distribution
	for _, m := range measures {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		b.a.Say("%s ...", m.plural)
		var samples []time.Duration
		if err := m.run(b, func(d time.Duration) { samples = append(samples, d) }); err != nil {
			if b.ctx.Err() == nil {
				err = fmt.Errorf("%w (if the server or this machine is busy, give a --ttl above %v)", err, b.ttl)
			}
			return fmt.Errorf("measure %s: %w", m.plural, err)
		}
		results = append(results, show.Distribute(m.name, samples))
	}
	p := b.a.Printer()
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
	if p.Format == "name" {
		return p.Print(t)
	}
	for _, r := range results {
		if err := p.Histogram(r); err != nil {
			return err
		}
	}
	return p.Print(t) // last, where it stays in view
}

func (b *benchmark) session(instance string) election.SessionConfig {
	return election.SessionConfig{
		Bucket: b.name, InstanceID: instance, TTL: b.ttl,
		CoolDown: time.Millisecond, // the former leader shall be the next successor
	}
}
