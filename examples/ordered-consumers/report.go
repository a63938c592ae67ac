package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// handling is what one process did to one order, or what it found done.
type handling struct {
	process, partition, account string
	n                           int
	from, to                    int64
	stored                      bool // false if the process was killed meanwhile
	found                       bool // a former leader had stored the order
}

// handlings are all of them, by their beginning.
func handlings(said []saying) (all []handling) {
	open := map[string]int{} // the place in all of what a process does to a partition
	for _, s := range said {
		partition := strings.TrimSuffix(s.subject, "."+s.account())
		h := handling{s.process, partition, s.account(), s.n, s.at, s.at, true, s.word == again}
		switch at := s.process + " " + partition; s.word {
		case begins:
			h.to, h.stored = math.MaxInt64, false
			open[at] = len(all)
			all = append(all, h)
		case ends:
			all[open[at]].to, all[open[at]].stored = s.at, true
		case again:
			all = append(all, h)
		case over:
			for i := range all {
				if all[i].process == s.process && all[i].to > s.at {
					all[i].to = s.at
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b handling) int { return cmp.Compare(a.from, b.from) })
	return all
}

// result is what became of the orders.
type result struct {
	changes
	accounts                       map[string]int // how many orders were published for each
	twice                          int            // orders that were delivered twice
	disordered, lost, shared, sums int
}

// examine looks at all that the processes have said.
func (r *result) examine(said []saying) {
	last, until := map[string]handling{}, map[string]handling{}
	for _, h := range handlings(said) {
		if before := until[h.partition]; before.to > h.from && before.process != h.process {
			r.shared++
		}
		if h.to > until[h.partition].to {
			until[h.partition] = h
		}
		before := last[h.account]
		repeated := h.n == before.n && (h.found || !before.stored)
		if !repeated && h.n != before.n+1 {
			r.disordered++
		}
		if repeated || h.found {
			r.twice++
		}
		last[h.account] = h
	}
	for account, n := range r.accounts {
		if h := last[account]; h.stored {
			n -= h.n
		}
		r.lost += max(n, 0)
	}
}

// compare reads what is stored. Order n of an account has the amount n.
func (r *result) compare(ctx context.Context, js jetstream.JetStream) error {
	found := 0
	for partition := range partitions {
		bucket, err := js.KeyValue(ctx, fmt.Sprintf("accounts-%s-%02d", group, partition))
		if err != nil {
			return err
		}
		for name, n := range r.accounts {
			entry, err := bucket.Get(ctx, name)
			if errors.Is(err, jetstream.ErrKeyNotFound) {
				continue // it is in another partition
			}
			if err != nil {
				return err
			}
			found++
			var a account
			if err := json.Unmarshal(entry.Value(), &a); err != nil || a.Orders != n || a.Amount != n*(n+1)/2 {
				r.sums++
			}
		}
	}
	r.sums += max(len(r.accounts)-found, found-len(r.accounts))
	return nil
}

func (r *result) print(out io.Writer) {
	n := 0
	for _, orders := range r.accounts {
		n += orders
	}
	where := "between two orders"
	if r.handled != "" {
		where = "with an order of " + r.handled + " in hand"
	}
	fmt.Fprintf(out, "published  %d orders of %d accounts, in %d partitions\n", n, len(r.accounts), partitions)
	fmt.Fprintf(out, "killed     %s, %s: others lead its partitions %v later\n",
		r.killed, where, r.moved.Round(time.Millisecond))
	fmt.Fprintf(out, "added      %s: it leads %d partitions %v later\n", r.added, r.share, r.took.Round(time.Millisecond))
	fmt.Fprintf(out, "handled    %d out of order, %d lost, %d in two processes at once; %d delivered twice\n",
		r.disordered, r.lost, r.shared, r.twice)
	fmt.Fprintf(out, "stored     %d accounts with a wrong sum\n", r.sums)
}

var errBroken = errors.New("a promise was broken")

func (r *result) verdict() error {
	if r.disordered+r.lost+r.shared+r.sums > 0 {
		return errBroken
	}
	return nil
}
