package assign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// What the server denies looks like silence: it complains on the side, in order with its other answers, and the connection
// keeps its last complaint. A denied write is told by natskv.Writer; here are subscriptions, and messages that nobody answers.

const (
	deniedWithin = time.Second // for the round trips after which complaints are here
	deniedLook   = time.Second
	deniedAgain  = time.Minute // what is complained of again and again is told so often
	maxDenied    = 1000        // subjects that this is remembered of
)

// subscribe subscribes to all that a loop hears of, or to nothing: to hear of a part would look like a fault of others.
// Errors: permissionError for a subject that was denied, the connection's.
func subscribe(nc *nats.Conn, all map[string]nats.MsgHandler) (subs []*nats.Subscription, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deniedWithin)
	defer cancel()
	for subject, take := range all {
		before := nc.LastError()
		sub, err := nc.Subscribe(subject, take)
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

// denial reports a subscription that the server has denied since before was the connection's last complaint. Where there is
// no round trip in time nothing is known, and nothing is reported.
func denial(ctx context.Context, nc *nats.Conn, before error, subject string) error {
	_ = nc.FlushWithContext(ctx)
	last := nc.LastError()
	if last == before {
		return nil
	}
	if d := natskv.Denied(last); d != nil && d.Subscribe && d.Subject == subject {
		return &permissionError{d}
	}
	return nil
}

// watchDenials calls told with every complaint of the server about what we may not do that comes from now on, until ctx
// ends. Of several at once it sees the last one; what is tried again is complained of again, and told once a minute.
func watchDenials(ctx context.Context, nc *nats.Conn, told func(*natskv.PermissionError)) {
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
			told(d)
		}
	}
}

// denied takes a complaint of the server. What only this scheduler does, and cannot do without, ends the term: another
// candidate may be allowed to. A worker that cannot be reached is a fault: others can. So is a client: it reads.
func (l *scheduling) denied(d *natskv.PermissionError) {
	key, ours := strings.CutPrefix(d.Subject, l.a.sub.prefix)
	switch {
	case d.Subscribe:
		if d.Subject == l.inbox+">" || d.Subject == l.a.sub.report(">") || d.Subject == l.a.sub.ctl() {
			l.fail(&permissionError{d})
		}
	case d.Subject == "$JS.API.STREAM.MSG.GET."+l.stream.Name(): // by which inputs are read
		l.fail(&permissionError{d})
	case !ours:
	case key == sealKey, strings.HasPrefix(key, noteKey), strings.HasPrefix(key, checkpointKey), strings.HasPrefix(key, tickKey),
		strings.HasPrefix(key, queueKey+tickPrefix):
		l.fail(&permissionError{d})
	case strings.HasPrefix(key, "work."), strings.HasPrefix(key, "event."), strings.HasPrefix(key, "done."):
		l.emit(event.Fault{Meta: l.h.Meta(), Doing: "send to " + d.Subject, Err: &permissionError{d}, Attempts: 1})
	}
}

// denied takes a complaint of the server about what only a worker does. That a report is denied would be known to nobody
// else: its tasks seem to run for ever. Who may not listen any more holds what no scheduler can ask for, or stop: its session
// ends, and the next one offers nothing before it may.
func (s *shift) denied(d *natskv.PermissionError) {
	me := s.h.Instance()
	mine := d.Subject == s.a.sub.report(me)
	if d.Subscribe {
		mine = d.Subject == s.outbox.inbox+"*" || d.Subject == s.a.sub.assign(me) || d.Subject == s.a.sub.cancel(me) ||
			d.Subject == s.a.sub.sync(me)
	}
	if mine {
		s.h.Emit(event.Fault{Meta: s.meta(), Doing: "work for " + s.a.cfg.Namespace, Err: &permissionError{d}, Attempts: 1})
	}
	if mine && d.Subscribe {
		s.h.End("the worker may not listen to " + d.Subject)
	}
}
