package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

var riverPeer = Peer{
	Name: "river", Module: "github.com/riverqueue/river", Store: "postgres", Rerun: riverRescue,
	Settings: func(c Config) string {
		r := c.riverConfig()
		return fmt.Sprintf(
			"pools of %d connections, %d of each worker; fetches %v apart, polls every %v; a job may take %v and is "+
				"rescued after %v",
			riverSubmits, riverWorks, cmp.Or(r.FetchCooldown, river.FetchCooldownDefault),
			cmp.Or(r.FetchPollInterval, river.FetchPollIntervalDefault),
			cmp.Or(r.JobTimeout, river.JobTimeoutDefault), cmp.Or(r.RescueStuckJobsAfter, riverRescue))
	},
	Connect: func(ctx context.Context, c Config) (Client, error) {
		pool, err := riverPool(ctx, c, riverSubmits)
		if err != nil {
			return nil, err
		}
		m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()})
		if err != nil {
			return nil, err
		}
		if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return nil, err
		}
		rc, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
		return &riverClient{pool, rc}, err
	},
	Work: func(ctx context.Context, c Config, h Handler) error {
		pool, err := riverPool(ctx, c, riverWorks)
		if err != nil {
			return err
		}
		workers := river.NewWorkers()
		if err := river.AddWorkerSafely(workers, &riverWorker{h: h, impatient: c.Impatient}); err != nil {
			return err
		}
		cfg := c.riverConfig()
		cfg.Workers = workers
		rc, err := river.NewClient(riverpgxv5.New(pool), cfg)
		if err != nil {
			return err
		}
		return rc.Start(ctx)
	},
}

// The connections of the submitter and of a worker, and after how long a job is rescued by itself.
const (
	riverSubmits, riverWorks = 48, 24
	riverRescue              = time.Hour
)

// riverConfig is what a worker is configured with; what is 0 is left to the peer.
func (c Config) riverConfig() *river.Config {
	cfg := &river.Config{
		ID: c.Name, Logger: quiet(), Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.Slots}},
	}
	if c.Tuned {
		cfg.FetchCooldown, cfg.FetchPollInterval = time.Millisecond, 20*time.Millisecond
	}
	if c.Impatient {
		cfg.JobTimeout, cfg.RescueStuckJobsAfter = 4*time.Second, 5*time.Second
	}
	return cfg
}

func riverPool(ctx context.Context, c Config, size int) (*pgxpool.Pool, error) {
	return pgxpool.New(ctx, fmt.Sprintf("postgres://peers@%s/postgres?sslmode=disable&pool_max_conns=%d", c.Addr, size))
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

type riverJob struct {
	Payload string `json:"payload"`
}

func (riverJob) Kind() string { return "job" }

type riverWorker struct {
	river.WorkerDefaults[riverJob]
	h         Handler
	impatient bool
}

func (w *riverWorker) Timeout(*river.Job[riverJob]) time.Duration {
	if w.impatient {
		return 4 * time.Second
	}
	return 0 // the client's
}

// NextRetry is at once, as with the others: see atOnce.
func (w *riverWorker) NextRetry(*river.Job[riverJob]) time.Time { return time.Now() }

func (w *riverWorker) Work(ctx context.Context, j *river.Job[riverJob]) error {
	result, err := w.h(ctx, strconv.FormatInt(j.ID, 10))
	if err != nil || result == "" {
		return err
	}
	return river.RecordOutput(ctx, result)
}

type riverClient struct {
	pool *pgxpool.Pool
	c    *river.Client[pgx.Tx]
}

func (r *riverClient) Submit(ctx context.Context, payload string) (string, error) {
	i, err := r.c.Insert(ctx, riverJob{payload}, nil)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(i.Job.ID, 10), nil
}

func (r *riverClient) SubmitMany(ctx context.Context, payload string, n int) error {
	for n > 0 {
		some := make([]river.InsertManyParams, min(n, 1000)) // one COPY
		for i := range some {
			some[i].Args = riverJob{payload}
		}
		if _, err := r.c.InsertManyFast(ctx, some); err != nil {
			return err
		}
		n -= len(some)
	}
	return nil
}

func (r *riverClient) Completed(ctx context.Context) (n int, err error) {
	err = r.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
	return n, err
}

func (r *riverClient) Outcome(ctx context.Context, id string) (bool, string, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false, "", err
	}
	j, err := r.c.JobGet(ctx, n)
	if err != nil || j.State != rivertype.JobStateCompleted {
		return false, "", err
	}
	var result string
	if out := j.Output(); out != nil {
		err = json.Unmarshal(out, &result)
	}
	return true, result, err
}

func (r *riverClient) Close() { r.pool.Close() }
