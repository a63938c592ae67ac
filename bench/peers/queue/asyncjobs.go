package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/choria-io/asyncjobs"
	"github.com/nats-io/nats.go"
)

var asyncjobsPeer = Peer{
	Name: "asyncjobs", Module: "github.com/choria-io/asyncjobs", Store: "nats", Rerun: asyncjobs.DefaultJobRunTime,
	Settings: func(c Config) string {
		q := c.asyncjobsQueue()
		return fmt.Sprintf(
			"a connection for each process; at most %d tasks in flight; a task may take %v, and is run again after that",
			cmp.Or(q.MaxConcurrent, asyncjobs.DefaultQueueMaxConcurrent), cmp.Or(q.MaxRunTime, asyncjobs.DefaultJobRunTime))
	},
	Connect: func(_ context.Context, c Config) (Client, error) {
		nc, ac, err := asyncjobsClient(c)
		if err != nil {
			return nil, err
		}
		js, err := nc.JetStream()
		return &asyncjobsSubmitter{nc, js, ac}, err
	},
	Work: func(ctx context.Context, c Config, h Handler) error {
		_, ac, err := asyncjobsClient(c)
		if err != nil {
			return err
		}
		mux := asyncjobs.NewTaskRouter()
		if err := mux.HandleFunc("job", func(ctx context.Context, _ asyncjobs.Logger, t *asyncjobs.Task) (any, error) {
			return h(ctx, t.ID)
		}); err != nil {
			return err
		}
		go func() { _ = ac.Run(ctx, mux) }() // for as long as the process lives
		return nil
	},
}

func asyncjobsClient(c Config) (*nats.Conn, *asyncjobs.Client, error) {
	nc, err := nats.Connect("nats://"+c.Addr, nats.MaxReconnects(-1), nats.UseOldRequestStyle()) // it insists
	if err != nil {
		return nil, nil, err
	}
	ac, err := asyncjobs.NewClient(asyncjobs.NatsConn(nc), asyncjobs.WorkQueue(c.asyncjobsQueue()),
		asyncjobs.ClientConcurrency(max(c.Slots, 1)),
		asyncjobs.CustomLogger(silent{}),
		asyncjobs.RetryBackoffPolicy(asyncjobs.RetryPolicy{Intervals: []time.Duration{time.Millisecond}}))
	return nc, ac, err
}

// asyncjobsQueue is the queue; what is 0 is left to the peer.
func (c Config) asyncjobsQueue() *asyncjobs.Queue {
	q := &asyncjobs.Queue{Name: "JOBS", MaxTries: 100}
	if c.Tuned {
		q.MaxConcurrent = 10_000
	}
	if c.Impatient {
		q.MaxRunTime = 5 * time.Second
	}
	return q
}

type asyncjobsSubmitter struct {
	nc *nats.Conn
	js nats.JetStreamContext
	c  *asyncjobs.Client
}

func (a *asyncjobsSubmitter) Submit(ctx context.Context, payload string) (string, error) {
	t, err := asyncjobs.NewTask("job", payload)
	if err != nil {
		return "", err
	}
	return t.ID, a.c.EnqueueTask(ctx, t)
}

// Completed is what has gone through the work queue: its entry is acknowledged after the task's end
// is stored.
func (a *asyncjobsSubmitter) Completed(context.Context) (int, error) {
	i, err := a.js.StreamInfo("CHORIA_AJ_Q_JOBS")
	if err != nil {
		return 0, err
	}
	return int(i.State.LastSeq - i.State.Msgs), nil
}

func (a *asyncjobsSubmitter) Outcome(_ context.Context, id string) (bool, string, error) {
	t, err := a.c.LoadTaskByID(id)
	if err != nil || t.State != asyncjobs.TaskStateCompleted {
		return false, "", err
	}
	text, err := json.Marshal(t.Result.Payload)
	if err != nil {
		return true, "", err
	}
	var result string
	err = json.Unmarshal(text, &result)
	return true, result, err
}

func (a *asyncjobsSubmitter) Close() { a.nc.Close() }

// silent is a log that nobody reads.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
