package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// roundWithin bounds one round. An event that takes longer than many TTLs will not happen.
func (b *benchmark) roundWithin() time.Duration { return 20*b.ttl + 30*time.Second }

// round returns a context for one round.
func (b *benchmark) round() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, b.roundWithin())
}

// promoted waits for a promotion at or after a moment. Earlier promotions belong to earlier rounds.
// After a hand-over on a busy machine the former leader may be promoted before its successor.
func (b *benchmark) promoted(since time.Time) (time.Time, error) {
	for {
		began, err := await(b.ctx, b.roundWithin(), "promotion", b.promotions)
		if err != nil || !began.Before(since) {
			return began, err
		}
	}
}

func await[T any](ctx context.Context, within time.Duration, what string, from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-ctx.Done():
		return v, ctx.Err()
	case <-time.After(within):
		return v, fmt.Errorf("no %s within %v", what, within)
	}
}

func (b *benchmark) heartbeat(sample func(time.Duration)) error {
	joined := time.Now()
	s, err := b.join("heart")
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := b.promoted(joined); err != nil {
		return err
	}
	for range 10 * b.rounds { // five heartbeats come in each TTL; a proof is such a write, and comes at once
		began := time.Now()
		if err := b.confirmed(s); err != nil {
			return err
		}
		sample(time.Since(began))
	}
	return nil
}

func (b *benchmark) confirmed(s *participant) error {
	ctx, cancel := b.round()
	defer cancel()
	switch ok, err := s.ValidateToken(ctx); {
	case err != nil:
		return fmt.Errorf("confirm leadership: %w", err)
	case !ok:
		return errors.New("leadership was lost")
	}
	return nil
}

func (b *benchmark) handover(sample func(time.Duration)) error {
	leader, err := b.join("left")
	if err != nil {
		return err
	}
	defer func() { leader.close() }()
	next, err := b.join("right")
	if err != nil {
		return err
	}
	defer func() { next.close() }()
	for range b.rounds {
		if leader, next, err = b.inLine(leader, next); err != nil {
			return err
		}
		asked := time.Now()
		ctx, cancel := b.round()
		err := leader.StepDown(ctx)
		cancel()
		if err != nil {
			return err
		}
		began, err := b.promoted(asked)
		if err != nil {
			return err
		}
		sample(began.Sub(asked))
	}
	return nil
}

// inLine waits until one participant leads and the other is its successor, and returns them in this
// order. On a machine that is too busy for the TTL the role changes its leader by itself.
func (b *benchmark) inLine(one, other *participant) (leader, next *participant, err error) {
	for end := time.Now().Add(b.roundWithin()); time.Now().Before(end); {
		if other.IsLeader() {
			one, other = other, one
		}
		if one.IsLeader() && one.Status().Successor == other.session.Instance() {
			return one, other, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-b.ctx.Done():
			return one, other, b.ctx.Err()
		}
	}
	return one, other, errors.New("no leader with a successor")
}

func (b *benchmark) failover(sample func(time.Duration)) error {
	leader, err := b.join("first-0")
	if err != nil {
		return err
	}
	defer func() { leader.close() }()
	for i := range b.rounds {
		next, err := b.join(fmt.Sprintf("next-%d", i))
		if err != nil {
			return err
		}
		if leader, next, err = b.inLine(leader, next); err != nil {
			next.close()
			return err
		}
		gone := time.Now()
		leader.nc.Close() // without giving the role up
		began, err := b.promoted(gone)
		leader.close()
		leader = next
		if err != nil {
			return err
		}
		sample(began.Sub(gone))
	}
	return nil
}

var echo = assign.NewKind[int, int]("rolectl.bench.v1")

func (b *benchmark) task(sample func(time.Duration)) error {
	nc, err := b.a.Target.Dial(nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	session, err := election.NewSession(b.session("tasks"))
	if err != nil {
		return err
	}
	tasks, err := assign.New(session, assign.Config{Namespace: b.name, Role: "tasks"})
	if err != nil {
		return err
	}
	if err := assign.Handle(tasks, echo, func(_ context.Context, t *assign.Task[int]) (int, error) {
		return t.Input, nil
	}); err != nil {
		return err
	}
	opening, cancel := b.round()
	defer cancel()
	if err := session.Open(opening, nc); err != nil {
		return err
	}
	defer func() { (&participant{session: session, nc: nc}).close() }()
	scheduler, err := session.Campaign(election.RoleConfig{Role: "tasks", Lead: tasks.Lead})
	if err != nil {
		return err
	}
	if err := scheduler.Start(context.WithoutCancel(b.ctx)); err != nil {
		return err
	}
	client, err := assign.NewClient(nc, assign.ClientConfig{Namespace: b.name})
	if err != nil {
		return err
	}
	defer client.Close()
	for i := range 10*b.rounds + 1 {
		ctx, cancel := b.round()
		sent := time.Now()
		pending, err := assign.Submit(ctx, client, echo, i)
		if err == nil {
			_, err = pending.Wait(ctx)
		}
		took := time.Since(sent)
		cancel()
		if err != nil {
			return err
		}
		if i > 0 { // the first task waits for the scheduler
			sample(took)
		}
	}
	return nil
}
