package queue

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

var asynqPeer = Peer{
	Name: "asynq", Module: "github.com/hibiken/asynq", Store: "redis",
	Settings: func(c Config) string {
		check := c.asynqCheck().String()
		if !c.Tuned {
			check = "1s (its default)"
		}
		delayed := "5s (its default)"
		if c.Impatient {
			delayed = "100ms"
		}
		return fmt.Sprintf(
			"pools of %d connections; looks into an empty queue every %s, for what is to be run again every %s; leases of 30s "+
				"(its own)",
			asynqPool, check, delayed)
	},
	Connect: func(_ context.Context, c Config) (Client, error) {
		at := asynq.RedisClientOpt{Addr: c.Addr, PoolSize: asynqPool}
		return &asynqClient{asynq.NewClient(at), asynq.NewInspector(at), redis.NewClient(&redis.Options{Addr: c.Addr})}, nil
	},
	Work: func(_ context.Context, c Config, h Handler) error {
		cfg := asynq.Config{
			Concurrency: c.Slots, LogLevel: asynq.FatalLevel, TaskCheckInterval: c.asynqCheck(), RetryDelayFunc: atOnce,
		}
		if c.Impatient {
			cfg.DelayedTaskCheckInterval = 100 * time.Millisecond
		}
		s := asynq.NewServer(asynq.RedisClientOpt{Addr: c.Addr, PoolSize: asynqPool}, cfg)
		return s.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			w := t.ResultWriter()
			result, err := h(ctx, w.TaskID())
			if err != nil || result == "" {
				return err
			}
			if _, err := w.Write([]byte(result)); err != nil {
				log.Print(err)
				return err
			}
			return nil
		}))
	},
}

// atOnce is when a task is run again that has failed: what is measured is how soon that is noticed,
// not how long is waited then.
func atOnce(int, error, *asynq.Task) time.Duration { return 0 }

// asynqPool is the connections of a process.
const asynqPool = 64

// asynqCheck is how often a worker looks into an empty queue; 0 leaves it to the peer.
func (c Config) asynqCheck() time.Duration {
	if c.Tuned {
		return 5 * time.Millisecond
	}
	return 0
}

type asynqClient struct {
	c *asynq.Client
	i *asynq.Inspector
	r *redis.Client
}

func (a *asynqClient) Submit(ctx context.Context, payload string) (string, error) {
	i, err := a.c.EnqueueContext(ctx, asynq.NewTask("job", []byte(payload)), asynq.Retention(time.Hour),
		asynq.MaxRetry(100))
	if err != nil {
		return "", err
	}
	return i.ID, nil
}

func (a *asynqClient) Completed(ctx context.Context) (int, error) {
	// its own count of all states samples the memory of tasks
	n, err := a.r.ZCard(ctx, "asynq:{default}:completed").Result()
	return int(n), err
}

func (a *asynqClient) Outcome(_ context.Context, id string) (bool, string, error) {
	i, err := a.i.GetTaskInfo("default", id)
	if err != nil {
		return false, "", err
	}
	return i.State == asynq.TaskStateCompleted, string(i.Result), nil
}

func (a *asynqClient) Close() {
	_ = a.c.Close() // only the ends of connections
	_ = a.i.Close()
	_ = a.r.Close()
}
