package roles

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
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
		if !s.answers(ctx, nc) {
			if !told && ctx.Err() == nil {
				s.report("move to a server of the list", errUnreachable)
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

// answers reports whether a server of the list answers.
func (s *servers) answers(ctx context.Context, nc *nats.Conn) bool {
	s.mu.Lock()
	all := s.order(s.listed)
	s.mu.Unlock()
	for _, address := range all[:min(len(all), mostProbes)] {
		if ctx.Err() != nil {
			return false
		}
		if greets(ctx, nc, address) {
			return true
		}
	}
	return false
}

// greets reports whether a server can be reached, and speaks as a NATS server does if that can be
// heard without a handshake.
func greets(ctx context.Context, nc *nats.Conn, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	var conn net.Conn
	if nc.Opts.CustomDialer != nil {
		conn, err = nc.Opts.CustomDialer.Dial("tcp", u.Host)
	} else {
		conn, err = (&net.Dialer{Timeout: nc.Opts.Timeout}).DialContext(ctx, "tcp", u.Host)
	}
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if strings.HasPrefix(u.Scheme, "ws") || nc.Opts.TLSHandshakeFirst {
		return true
	}
	if err := conn.SetReadDeadline(time.Now().Add(nc.Opts.Timeout)); err != nil {
		return false
	}
	word, err := bufio.NewReaderSize(conn, 16).Peek(len("INFO "))
	return err == nil && string(word) == "INFO "
}
