//go:build linux

package main

import (
	"context"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// reading is what has been counted up to a moment.
type reading struct {
	at   time.Time
	said traffic
	// by the server, every host (one that starts later had used nothing), and nil: this process
	used map[*proc.Child]use
}

// use is what one process has used and received.
type use struct {
	proc.Usage
	heard int64 // messages, by a host
}

// read takes a reading, always in the same order: between two of them each count covers the same
// time.
func (s *stage) read(ctx context.Context) (r reading, err error) {
	own, err := proc.Used()
	if err != nil {
		return r, err
	}
	r.used = map[*proc.Child]use{nil: {Usage: own}}
	for _, h := range append(slices.Clip(s.hosts), s.server) {
		var u use
		if u.Usage, err = h.Usage(ctx); err != nil {
			return r, err
		}
		if h != s.server {
			if err := h.Call(ctx, "heard", nil, &u.heard); err != nil {
				return r, err
			}
		}
		r.used[h] = u
	}
	err = s.server.Call(ctx, "traffic", nil, &r.said)
	r.at = time.Now()
	return r, err
}

// span is what lies between two readings.
type span struct{ from, to reading }

func (x span) seconds() float64 { return x.to.at.Sub(x.from.at).Seconds() }

// per is a number of messages, by the second.
func (x span) per(from, to int64) float64 { return float64(to-from) / x.seconds() }

// cpu is the processor time of processes together, in percent of one processor.
func (x span) cpu(of ...*proc.Child) float64 {
	var sum time.Duration
	for _, c := range of {
		sum += x.to.used[c].CPU - x.from.used[c].CPU
	}
	return sum.Seconds() / x.seconds() * 100
}

// collector is what of that is the garbage collector's, at most.
func (x span) collector(of *proc.Child) float64 {
	return (x.to.used[of].Collector - x.from.used[of].Collector).Seconds() / x.seconds() * 100
}

// messages is how many the server has received and sent.
func (x span) messages() float64 {
	return float64(x.to.said.In - x.from.said.In + x.to.said.Out - x.from.said.Out)
}

// heard is what a host has received a second.
func (x span) heard(of *proc.Child) float64 { return x.per(x.from.used[of].heard, x.to.used[of].heard) }
