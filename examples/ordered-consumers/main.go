package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

type options struct {
	url      string
	accounts int
	as       string // the name of a process that takes part
}

func main() {
	var o options
	flag.StringVar(&o.url, "nats", cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), "`URL` of NATS")
	flag.IntVar(&o.accounts, "accounts", 40, "how many accounts get an order every tenth of a second")
	flag.StringVar(&o.as, "as", "", "for the processes that this one starts: its name")
	flag.Parse()
	run := show
	if o.as != "" {
		run = takePart
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "ordered-consumers:", err)
		os.Exit(1)
	}
}

// show publishes orders while processes come and go, and reports.
func show(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	nc, err := nats.Connect(o.url)
	if err != nil {
		return fmt.Errorf("connect to NATS (start nats-server -js, or set NATS_URL): %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	if err := ensureStream(ctx, js); err != nil {
		return err
	}
	c := &cluster{options: o, reached: map[string]int{}}
	defer c.end()
	r := result{accounts: map[string]int{}}
	published, enough := make(chan error, 1), make(chan struct{})
	go func() { published <- publish(ctx, js, r.accounts, o.accounts, enough) }() // received below
	r.changes, err = c.change(ctx)
	close(enough)
	if err := errors.Join(err, <-published); err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_ = c.await(patient, func() bool { return c.has(r.accounts) }) // what is missing then is lost
	c.end()                                                        // then all is heard that was said
	r.examine(c.said)
	if err := r.compare(ctx, js); err != nil {
		return err
	}
	r.print(os.Stdout)
	return r.verdict()
}

// publish sends each account its next order, ten times a second, until it is enough. It counts the
// orders. Messages of one connection are stored in the order in which they are sent.
func publish(ctx context.Context, js jetstream.JetStream, sent map[string]int, n int, enough <-chan struct{}) error {
	run := strconv.FormatInt(time.Now().UnixMilli(), 36) // other runs had other accounts
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		for i := range n {
			account := fmt.Sprint(run, "-", i)
			sent[account]++
			data, err := json.Marshal(order{N: sent[account], Amount: sent[account]})
			if err != nil {
				return err
			}
			if _, err := js.Publish(ctx, "orders."+account, data); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-enough:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
