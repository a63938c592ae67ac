package roles

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// errUnreachable says that a list is not followed.
var errUnreachable = errors.New("no server of the list answers: check the addresses that are registered; " +
	"the connection stays where it is")

// mostProbes is how many servers of a list are asked whether they answer, before the connection
// moves.
const mostProbes = 8

// watch moves the connection when its server has left the list for long enough, and a server of the
// list answers.
func (s *servers) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var due time.Time // when the connection moves, zero while it is where it should be
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		nc, ours, gone, settled := s.place()
		switch {
		case nc == nil || ours == "":
			continue // it looks for a server already
		case !gone:
			due, told = time.Time{}, false
			if !settled {
				s.apply() // forgets those that are not listed
			}
			continue
		case due.IsZero():
			due = time.Now().Add(absence + rand.N(s.jitter+1))
			continue
		case time.Now().Before(due):
			continue
		}
		if err := s.answers(ctx, nc); err != nil {
			if !told && ctx.Err() == nil {
				s.report("move to a server of the list", fmt.Errorf("%w: %w", errUnreachable, certified(err)))
			}
			told = true
		} else {
			_ = nc.ForceReconnect() // it is closed, and so nothing is left to do
		}
		due = time.Time{}
	}
}

// place is the connection and its server, "" while there is none; whether that server has left the
// list; and whether all servers that may be tried are of the list.
func (s *servers) place() (nc *nats.Conn, ours string, gone, settled bool) {
	s.mu.Lock()
	nc = s.nc
	s.mu.Unlock()
	if nc == nil {
		return nil, "", false, false
	}
	ours = nc.ConnectedUrl()
	s.mu.Lock()
	defer s.mu.Unlock()
	return nc, ours, !contains(s.listed, ours), slices.Equal(s.proven, s.listed)
}

// answers looks whether a server of the list answers. The error is that of the last one that does
// not.
func (s *servers) answers(ctx context.Context, nc *nats.Conn) (err error) {
	s.mu.Lock()
	all := s.order(s.listed)
	s.mu.Unlock()
	for _, address := range all[:min(len(all), mostProbes)] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = greets(ctx, nc, address); err == nil {
			return nil
		}
	}
	return err
}
