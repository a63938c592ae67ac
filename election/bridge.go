package election

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func init() {
	bridge.NewTerm = func(parent context.Context, role string, epoch uint64) (context.Context, any, func(error)) {
		b := newTrust(clock.System())
		b.extend(math.MaxInt64, math.MaxInt64)
		ctx, cancel := context.WithCancelCause(parent)
		t := &Term{role: role, id: epoch, began: time.Now(), trust: b, ctx: ctx, cancel: cancel}
		token := fencing.NewToken(role, "test", epoch, 0, uuid.New())
		t.token.Store(&token)
		return ctx, t, func(cause error) {
			t.over.Store(true)
			cancel(cause)
		}
	}
	bridge.SetClock = func(cfg any, c clock.Clock) { cfg.(*SessionConfig).clock = c }
	bridge.LeaseOf = func(h any) any { return h.(Host).lease }
	bridge.AttachOnce = func(session any, name string, run any) error {
		return session.(*Session).attachOnce(name, run.(func(context.Context, Host) error))
	}
	bridge.Offer = func(session any, namespace string, slots int, kinds []string, labels map[string]string,
		build string,
	) error {
		w := record.Workplace{Slots: slots, Kinds: kinds, Labels: labels, Build: build, Alone: true, Beside: true}
		return session.(*Session).reserve(namespace, w)
	}
	bridge.Number = func(session any) uint64 { return session.(*Session).sessionNumber() }
	bridge.Waits = func(session any) string { return session.(*Session).waits() }
	bridge.Unopened = func(session any) error {
		s := session.(*Session)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.unopened
	}
	bridge.TrustedFor = func(session any) time.Duration { return session.(*Session).trustedFor() }
	bridge.Fault = func(session any, doing string, err error) {
		s := session.(*Session)
		s.emit(event.Fault{Meta: s.meta(), Doing: doing, Err: err, Attempts: 1})
	}
	bridge.CheckShards = func(session any, group string, n int) error {
		return session.(*Session).checkShards(context.Background(), group, n)
	}
	bridge.ClosesWithin = func(session any) time.Duration { return session.(*Session).closesWithin() }
}
