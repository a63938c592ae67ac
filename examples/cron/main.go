// Command cron runs a task at fixed times, once for each time, however many processes are started
// and whichever leads. Each process may fire the ticks, and may run their tasks.
//
//	nats-server -js              # or: go run ./cmd/rolectl dev
//	go run ./examples/cron       # in two terminals; then kill the leader with kill -9
package main

import (
	"cmp"
	"context"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// report is the kind of task that each tick submits. Its input is that of the recurrence.
var report = assign.NewKind[string, string]("report.v1", assign.MaxAttempts(3))

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	url := cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL)
	m, err := roles.New(roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true, TTL: 2 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	a, err := assign.New(m.Session(), assign.Config{Namespace: "reports", Role: "reports", StreamAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := assign.Handle(a, report, run); err != nil {
		log.Fatal(err)
	}
	name, fire := a.Role()
	err = m.Add(roles.Role{Name: name, Lead: func(ctx context.Context, t *election.Term) error {
		log.Printf("process %d: leading at epoch %d", os.Getpid(), t.Epoch())
		return fire(ctx, t)
	}})
	if err != nil {
		log.Fatal(err)
	}
	go define(ctx, a)
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// define stores the recurrence. Every process does so at its start: the same definition is stored
// once. CatchUpAll fires the ticks, too, that came while nobody led.
func define(ctx context.Context, a *assign.Assigner) {
	for {
		err := assign.Recur(ctx, a, report, "pulse", "@every 1s", "all accounts", assign.CatchUp(assign.CatchUpAll))
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Printf("the recurrence is not stored yet: %v", err)
		time.Sleep(time.Second)
	}
}

// run runs the task of one tick. The id of the task names the tick.
func run(_ context.Context, t *assign.Task[string]) (string, error) {
	tick := strings.TrimPrefix(t.ID(), "cron/pulse/")
	log.Printf("tick %s: reported %s, attempt %d", tick, t.Input, t.Attempt())
	return tick, nil
}
