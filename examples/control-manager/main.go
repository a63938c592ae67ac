package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

const perWave = 120 // changes

func main() {
	url := flag.String("nats", cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), "`URL` of NATS")
	as := flag.String("as", "", "take part as manager or agent, which the program uses by itself")
	id := flag.String("id", "", "the name of that process")
	flag.Parse()
	run := func() error { return takePart(*url, *as, *id) }
	if *as == "" {
		run = func() error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return operate(ctx, *url)
		}
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// operate starts the control plane, and does to it what operators and accidents do.
func operate(ctx context.Context, url string) (err error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return fmt.Errorf("connect to NATS (start nats-server -js, or set NATS_URL): %w", err)
	}
	defer nc.Close()
	client, err := assign.NewClient(nc, assign.ClientConfig{Namespace: role})
	if err != nil {
		return err
	}
	defer client.Close()
	p := &plane{url: url, client: client, processes: map[string]*process{}}
	defer func() { err = cmp.Or(err, p.end()) }()
	if err := p.start(); err != nil {
		return err
	}
	o, err := p.await(ctx, func(o assign.Overview) bool { return len(o.Workers) == 3 })
	if err != nil {
		return err
	}
	fmt.Println("began       3 managers, 3 agents, led by", o.Scheduler)

	before, err := p.wave(ctx, func() error { return nil })
	if err != nil {
		return err
	}
	if err := assign.DrainWorker(ctx, client, "agent-1", "its host is replaced"); err != nil {
		return err
	}
	if _, err := p.await(ctx, drained); err != nil {
		return err
	}
	fmt.Printf("drained     agent-1 after %d changes\n", len(before))
	transferred, err := p.wave(ctx, func() error { return p.transfer(ctx, nc) })
	if err != nil {
		return err
	}
	killed, err := p.wave(ctx, func() error { return p.killLeader(ctx) })
	if err != nil {
		return err
	}
	late := 0
	for _, by := range append(transferred, killed...) {
		if by == "agent-1" {
			late++
		}
	}
	done := len(before) + len(transferred) + len(killed)
	fmt.Printf("changes     %d applied, %d lost, %d by the drained agent\n", done, 3*perWave-done, late)
	if late > 0 || done != 3*perWave {
		return fmt.Errorf("a promise was broken")
	}
	return nil
}

// wave submits changes, does something meanwhile, and returns which agents have applied them.
func (p *plane) wave(ctx context.Context, meanwhile func() error) (by []string, err error) {
	changes := make([]change, perWave)
	for i := range changes {
		changes[i] = change{Service: fmt.Sprint("service-", i), Version: 2}
	}
	pending, err := assign.SubmitBatch(ctx, p.client, apply, changes)
	if err != nil {
		return nil, err
	}
	if err := meanwhile(); err != nil {
		return nil, err
	}
	for _, one := range pending {
		id, err := one.Wait(ctx)
		if err != nil {
			return by, err
		}
		by = append(by, id)
	}
	return by, nil
}

func drained(o assign.Overview) bool {
	for _, w := range o.Workers {
		if w.Instance == "agent-1" {
			return w.Drained && w.Load == 0
		}
	}
	return false
}

// transfer hands the role to another manager, without a gap that anybody waits for. One that is
// busy declines, and the next one is asked.
func (p *plane) transfer(ctx context.Context, nc *nats.Conn) error {
	observer, err := election.Observe(ctx, nc, role)
	if err != nil {
		return err
	}
	defer observer.Close()
	info, _ := observer.Role(role)
	declined := errors.New("no other candidate")
	for _, to := range info.Candidates {
		if to.Instance == info.Leader {
			continue
		}
		began := time.Now()
		err := observer.Transfer(ctx, role, to.Instance, info.Epoch)
		if errors.Is(err, election.ErrDeclined) {
			declined = fmt.Errorf("%s: %w", to.Instance, err)
			continue
		} else if err != nil {
			return err
		}
		_, err = p.await(ctx, func(o assign.Overview) bool { return o.Scheduler == to.Instance })
		fmt.Printf("transferred control to %s in %v\n", to.Instance, time.Since(began).Round(time.Millisecond))
		return err
	}
	return fmt.Errorf("nobody to transfer %s to: %w", role, declined)
}

// killLeader kills the manager that leads, and waits until another one hands out work.
func (p *plane) killLeader(ctx context.Context) error {
	o, err := p.await(ctx, func(assign.Overview) bool { return true })
	if err != nil {
		return err
	}
	began := time.Now()
	if err := p.kill(o.Scheduler); err != nil {
		return err
	}
	next, err := p.await(ctx, func(now assign.Overview) bool { return now.Epoch > o.Epoch })
	fmt.Printf("killed      %s, %s hands out work %v later\n", o.Scheduler, next.Scheduler,
		time.Since(began).Round(time.Millisecond))
	return err
}
