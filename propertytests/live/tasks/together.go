package tasks

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// together has tasks submitted that belong together: a group, a batch, or one that waits for
// others.
func (s *taskStorm) together() {
	s.tasks++
	kind, orders := Kinds[s.Rand.IntN(len(Kinds))], make([]Order, 2+s.Rand.IntN(4))
	if s.Sync > 0 {
		kind, orders = Plain, make([]Order, 20*len(orders))
	}
	for i := range orders {
		orders[i] = s.order()
	}
	switch n := s.Rand.IntN(3); {
	case s.Sync > 0 && s.oneIn(2):
		s.crowd(kind)
	case n == 0:
		s.group(kind, orders)
	case n == 1 || len(orders) > 10:
		s.batch(kind, orders)
	default:
		s.dependent(kind, orders)
	}
}

// group has one submitted. One that is left behind half submitted is completed in the next calm.
func (s *taskStorm) group(kind assign.Kind[Order, string], orders []Order) {
	name := fmt.Sprint("g", s.tasks)
	s.a.RecordLog.Groups(groups.Prefix+name, len(orders))
	submit := func(ctx context.Context, from *assign.Client) error {
		_, err := assign.SubmitGroup(ctx, from, name, kind, orders, Whole)
		if err != nil {
			return err
		}
		s.a.RecordLog.Acked(groups.Prefix + name)
		for i := range orders {
			s.a.RecordLog.Acked(groups.MemberID(groups.Prefix+name, i))
		}
		s.a.Tally.Add("groups", 1)
		return nil
	}
	s.workload.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 6*s.a.TTL)
		defer cancel()
		if err := submit(ctx, s.from); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.unfinished = append(s.unfinished, submit)
		}
	})
}

// finishGroups submits what is missing of groups. Nothing else is submitted meanwhile.
func (s *taskStorm) finishGroups() {
	for _, submit := range s.unfinished {
		s.a.Tally.Add("groups continued", 1)
		s.steer(func(ctx context.Context) error { return submit(ctx, s.a.Operator) })
	}
	s.unfinished = nil
}

// batch has one submitted. Some tasks of it may not be stored.
func (s *taskStorm) batch(kind assign.Kind[Order, string], orders []Order) {
	id := fmt.Sprint("b", s.tasks, "-")
	s.later("batch", func(ctx context.Context) error {
		each := func(i int) []assign.SubmitOption { return []assign.SubmitOption{assign.WithID(fmt.Sprint(id, i))} }
		all, err := assign.SubmitBatch(ctx, s.from, kind, orders, assign.WithEach(each))
		for _, p := range all {
			if p != nil {
				s.a.RecordLog.Acked(p.ID())
			}
		}
		return err
	})
}

// dependent has a task submitted that waits for all others, which are submitted before. They may
// not be there.
func (s *taskStorm) dependent(kind assign.Kind[Order, string], orders []Order) {
	id, ended := fmt.Sprint("d", s.tasks), s.oneIn(3)
	var before []string
	for i := range orders[1:] {
		before = append(before, fmt.Sprint(id, "-", i))
	}
	s.a.RecordLog.Waits(id, ended, before...)
	option := assign.After
	if ended {
		option = assign.AfterEnded
	}
	s.later("dependent", func(ctx context.Context) error {
		for i, up := range before {
			if _, err := assign.Submit(ctx, s.from, kind, orders[1+i], assign.WithID(up)); err == nil {
				s.a.RecordLog.Acked(up)
			}
		}
		_, err := assign.Submit(ctx, s.from, kind, orders[0], assign.WithID(id), option(before...))
		if err == nil {
			s.a.RecordLog.Acked(id)
		}
		return err
	})
}

// order draws what a task is to do.
func (s *taskStorm) order() Order {
	ttl := s.a.TTL
	o := Order{Run: s.upTo(ttl / 2), Permanent: s.oneIn(15), Snooze: s.oneIn(15), Panic: s.oneIn(2)}
	if s.oneIn(4) {
		o.Run = s.upTo(3 * ttl)
	}
	if s.oneIn(4) {
		o.Fail = s.Rand.IntN(6)
	}
	if s.oneIn(3) {
		o.Steps = 1 + s.Rand.IntN(4)
	}
	if s.oneIn(10) && !s.Peaceful { // a worker that does not return in time is lost like one that crashes
		o.Stubborn = s.upTo(ttl)
	}
	o.Tenant = fmt.Sprint("tenant", s.Rand.IntN(3))
	return o
}

// Groups notes the number of members of a group, before it is submitted.
func (c *RecordLog) Groups(completion string, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups[completion] = size
}

// waits is what a task waits for: that others succeed, or that they end.
type waits struct {
	before []string
	ended  bool
}

// Waits notes what a task waits for, before it is submitted.
func (c *RecordLog) Waits(id string, ended bool, before ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = waits{before, ended}
}
