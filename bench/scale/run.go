//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// patience is how long anything may take.
const patience = 10 * time.Minute

type run struct {
	quick    bool
	sizes    string // "" for all
	profiles string // a folder, "" for none
	sheet    *figures.Sheet
}

// full is how long a full run waits; a quick one has no time.
func (r *run) full(d time.Duration) time.Duration {
	if r.quick {
		return min(d, time.Second)
	}
	return d
}

// figure is one thing that was measured.
type figure struct {
	name  string
	value float64
}

func (r *run) add(axis string, n int, all ...figure) error {
	for _, f := range all {
		log.Printf("%-8s %8d  %-26s %.4g", axis, n, f.name, f.value)
		if err := r.sheet.Add(figures.Row{Job: axis, Peer: "rolemanager", N: n, Figure: f.name, Value: f.value}); err != nil {
			return err
		}
	}
	return nil
}

// grow measures one axis at its sizes. A size that fails is its last, and a result: the note says
// why.
func (r *run) grow(ctx context.Context, axis string, quick, full []int, at func(context.Context, int) error) error {
	sizes := full
	if r.quick {
		sizes = quick
	}
	if r.sizes != "" {
		sizes = nil
		for text := range strings.SplitSeq(r.sizes, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("sizes: %w", err)
			}
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		err := at(ctx, n)
		if err == nil {
			continue
		}
		log.Printf("%-8s %8d  %v", axis, n, err)
		return errors.Join(err,
			r.sheet.Add(figures.Row{Job: axis, Peer: "rolemanager", N: n, Figure: "failed", Note: err.Error()}))
	}
	return nil
}

// stage is one server and what is around it.
type stage struct {
	server *proc.Child
	addr   string
	hosts  []*proc.Child

	mu      sync.Mutex
	heard   []proc.Event
	changed chan struct{} // closed and recreated with each event
}

func newStage(ctx context.Context) (*stage, error) {
	s := &stage{changed: make(chan struct{})}
	var err error
	if s.server, err = proc.Start(serverKind, nil, nil); err != nil {
		return nil, err
	}
	if err := s.server.Call(ctx, "addr", nil, &s.addr); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// bucket makes the one of the roles, for leases that last so long at most.
func (s *stage) bucket(ctx context.Context, maxTTL time.Duration) error {
	nc, err := nats.Connect("nats://" + s.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	_, err = natskv.Create(ctx, nc, natskv.Config{Bucket: rolesBucket, MaxTTL: max(maxTTL, natskv.DefaultMaxTTL)})
	return err
}

func (s *stage) host(c hostConfig) (*proc.Child, error) {
	c.Addr = s.addr
	h, err := proc.Start(hostKind, c, func(e proc.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard = append(s.heard, e)
		close(s.changed)
		s.changed = make(chan struct{})
	})
	if err == nil {
		s.hosts = append(s.hosts, h)
	}
	return h, err
}

// await waits for n events of a kind that come after a time, each of another subject, and returns
// them.
func (s *stage) await(ctx context.Context, what string, after int64, n int) ([]proc.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	seen := map[string]bool{}
	var found []proc.Event
	for next := 0; ; {
		s.mu.Lock()
		for ; next < len(s.heard); next++ {
			if e := s.heard[next]; e.What == what && e.At > after && !seen[e.Of] {
				seen[e.Of] = true
				found = append(found, e)
			}
		}
		changed := s.changed
		s.mu.Unlock()
		if len(found) >= n {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, &waitError{what, len(found), n, context.Cause(ctx)}
		}
	}
}

// waitError names the event that did not come.
type waitError struct {
	what  string
	n, of int
	why   error
}

func (e *waitError) Error() string { return fmt.Sprintf("%s: %d of %d: %v", e.what, e.n, e.of, e.why) }
func (e *waitError) Unwrap() error { return e.why }

// close ends everything; the server removes its files.
func (s *stage) close() {
	for _, h := range s.hosts {
		h.Kill()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.server.Call(ctx, "close", nil, nil); err != nil {
		log.Print(err)
	}
	s.server.Close()
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
