package natsconn

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// A denial of the server looks like silence. The server sends its complaint separately, in order
// with its other answers, and the connection keeps the last complaint. natskv.Writer reports a
// denied write. This file finds denied subscriptions, and messages that nobody answers.

const (
	deniedWithin = time.Second // for the round trips after which complaints have arrived
	deniedLook   = time.Second
	deniedAgain  = time.Minute // how often a repeated complaint is reported
	maxDenied    = 1000        // the number of subjects that are remembered for that
)

// Subscribe subscribes to all subjects or to none, because a part of them would look like a fault
// of others. Errors: a *natskv.PermissionError for a subject that the server denies, and the
// connection's.
func Subscribe(nc *nats.Conn, all map[string]nats.MsgHandler) (subs []*nats.Subscription, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deniedWithin)
	defer cancel()
	for subject, handler := range all {
		before := nc.LastError()
		sub, err := nc.Subscribe(subject, handler)
		if err == nil {
			subs = append(subs, sub)
			err = denial(ctx, nc, before, subject)
		}
		if err != nil {
			for _, s := range subs {
				_ = s.Unsubscribe() // fails only when the connection is closed
			}
			return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
		}
	}
	return subs, nil
}

// denial returns the complaint about a subscription that is newer than before, the connection's
// last complaint. It returns nil if no round trip succeeds in time, because then nothing is known.
func denial(ctx context.Context, nc *nats.Conn, before error, subject string) error {
	_ = nc.FlushWithContext(ctx)
	last := nc.LastError()
	if last == before {
		return nil
	}
	if d := natskv.Denied(last); d != nil && d.Subscribe && d.Subject == subject {
		return d
	}
	return nil
}

// WatchDenials calls denied for every later complaint of the server about a missing permission,
// until ctx ends. Of several complaints at once it sees the last one. A repeated complaint is
// reported once a minute.
func WatchDenials(ctx context.Context, nc *nats.Conn, denied func(*natskv.PermissionError)) {
	known, recent := nc.LastError(), map[string]time.Time{}
	tick := time.NewTicker(deniedLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		last := nc.LastError()
		if last == known {
			continue
		}
		known = last
		if d, now := natskv.Denied(last), time.Now(); d != nil && now.Sub(recent[d.Subject]) >= deniedAgain {
			if len(recent) >= maxDenied {
				clear(recent)
			}
			recent[d.Subject] = now
			denied(d)
		}
	}
}
