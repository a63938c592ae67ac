//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// work is that of a leader, along its own connection. When its term has ended it continues to write
// for a while, as one that was stopped before it could see that.
func (s *clusterStorm) work(ctx context.Context, name string, term *election.Term) error {
	all := s.a.Processes()
	js, err := jetstream.New(all[slices.IndexFunc(all, func(p *elections.Process) bool { return p.Name == name })].Conn)
	if err != nil {
		return err
	}
	b := s.books[term.Role()]
	err = b.keepOver(ctx, term, js)
	s.lateLeft.Add(1)
	s.late.Go(func() {
		defer s.lateLeft.Add(-1)
		b.goOn(s.t.Context(), s.calmed, term.Epoch())
	})
	return err
}

// goOn has a leader continue to write when its term has ended: until both have refused it or, once
// all is calm, nobody has written after it.
func (b *books) goOn(ctx context.Context, calm <-chan struct{}, epoch uint64) {
	k := b.of(epoch)
	if k == nil {
		return // it has never written
	}
	file, err := openFenced(b.dir)
	if err != nil {
		return
	}
	defer file.file.Close()
	pace := time.NewTicker(steppedTTL / 10)
	defer pace.Stop()
	byFile, byStore := false, false
	for n := 1; !byFile || !byStore; n++ {
		e := ledgerEntry{epoch, -n, k.holder}
		byFile = byFile || b.refusedBy("file", file.add(e))
		if !byStore {
			attempt, cancel := context.WithTimeout(ctx, steppedTTL)
			_, err := k.store.Put(attempt, fmt.Sprintf("%d.late%d", epoch, n), []byte(e.String()))
			cancel()
			byStore = b.refusedBy("store", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-calm:
			if b.last() == epoch {
				return
			}
		default:
		}
		<-pace.C
	}
}

// last is the last epoch of which both have taken something.
func (b *books) last() (epoch uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := range b.terms {
		epoch = max(epoch, e)
	}
	return epoch
}
