package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
)

type options struct {
	url      string
	name     string // of the bucket and of the namespace
	replicas int
	members  int
	kills    int
	slots    int
	work     time.Duration
	ttl      time.Duration
	as, id   string // of a process that takes part
}

func main() {
	var o options
	flag.StringVar(&o.url, "nats", cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), "`URL` of NATS")
	flag.StringVar(&o.name, "namespace", "squares", "the bucket of the roles, and the namespace of the tasks")
	flag.IntVar(&o.replicas, "replicas", 1, "replicas of both")
	flag.IntVar(&o.members, "members", 1000, "how many members the group has, 100,000 at most")
	flag.IntVar(&o.kills, "kills", 4, "how many processes are killed: a scheduler, a worker, a scheduler, …")
	flag.IntVar(&o.slots, "slots", 16, "how many tasks a process runs at once")
	flag.DurationVar(&o.work, "work", 10*time.Millisecond, "how long a member takes")
	flag.DurationVar(&o.ttl, "ttl", 2*time.Second, "after how long without a heartbeat a process counts as dead")
	flag.StringVar(&o.as, "as", "", "for the processes that this one starts: candidate or worker")
	flag.StringVar(&o.id, "id", "", "likewise: the name of the instance")
	flag.Parse()
	run := runGroup
	if o.as != "" {
		run = takePart
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "groups:", err)
		os.Exit(1)
	}
}

// runGroup submits one group, kills processes meanwhile, and reports.
func runGroup(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	nc, err := nats.Connect(o.url)
	if err != nil {
		return fmt.Errorf("connect to NATS (start nats-server -js, or set NATS_URL): %w", err)
	}
	defer nc.Close()
	client, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: o.name, StreamAutoCreate: true, Replicas: o.replicas,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	c := &cluster{options: o, client: client}
	defer c.end()
	if err := c.start(ctx); err != nil {
		return err
	}
	killed := make(chan error, 1)
	go func() { killed <- c.kill(ctx) }() // received below, or ended by ctx with this process

	inputs := make([]int, o.members)
	for i := range inputs {
		inputs[i] = i
	}
	r := report{options: o, began: time.Now()}
	group, err := assign.SubmitGroup(ctx, client, fmt.Sprint("run-", r.began.UnixNano()), member, inputs, completion)
	if err != nil {
		return err
	}
	r.submitted = time.Since(r.began)
	if r.status, err = group.Wait(ctx); err != nil {
		return fmt.Errorf("the completion: %w", err)
	}
	r.took = time.Since(r.began)
	if err := <-killed; err != nil {
		return err
	}
	c.end()                          // then all is heard that was said
	after, err := group.Members(ctx) // what the record of the group says by itself
	if err != nil {
		return err
	}
	r.state = after.Completion.State
	r.ran, r.completions, r.kills = c.heard()
	r.print(os.Stdout)
	return errors.Join(r.check(), r.spotCheck(ctx, client))
}
