package scheduler

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/assign/internal/upkeep"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// begin starts everything that gives the loop messages.
func (s *scheduler) begin(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(ctx)
	out := s.cfg.Shortcut.Scheduler(s.host.Session(), natsconn.NewSender(s.conn, &s.wg))
	writer, err := natskv.NewWriter(s.conn, s.stream)
	s.assemble(out, writer)
	if err != nil {
		return fmt.Errorf("assign: %w", err)
	}
	s.payloads.run(ctx, s.conn, s.stream, &s.wg, s.put)
	s.subs, err = natsconn.Subscribe(s.conn, map[string]nats.MsgHandler{
		s.inbox + ">":      func(m *nats.Msg) { s.put(arrivedAnswer{m}) },
		s.work.Report(">"): func(m *nats.Msg) { s.reports.arrive(m) }, // what is dropped is repeated
		s.talk.Ctl():       s.queries.arrive,
	})
	if err != nil {
		return fmt.Errorf("assign: %w", err)
	}
	s.leave = out.Join(shortcut.End{
		Inbox:   s.inbox,
		Answer:  func(m *nats.Msg) { s.put(arrivedAnswer{m}) },
		Request: s.reports.arrive,
	})
	s.wg.Go(func() { natsconn.WatchDenials(ctx, s.conn, func(d *natskv.PermissionError) { s.put(d) }) })
	s.wg.Go(func() { s.reader.run(ctx) })
	s.wg.Go(func() { s.watchConnection(ctx) })
	s.wg.Go(func() { s.members.widen(ctx) })
	s.wg.Go(func() {
		upkeep.Run(ctx, upkeep.Config{
			Namespace: s.cfg.Namespace, Conn: s.conn, Stream: s.stream, Objects: s.cfg.Stream, Meta: s.host.Meta,
			Emit: s.emit,
		})
	})
	return nil
}

// end stops everything.
func (s *scheduler) end() {
	s.leave()
	s.cancel()
	s.out.Stop()
	if s.writer != nil {
		s.writer.Stop()
	}
	natsconn.Within(s.host.Config().OpTimeout, func() {
		for _, sub := range s.subs {
			_ = sub.Unsubscribe() // fails only when the connection is closed
		}
		if s.writer != nil {
			s.writer.Close()
		}
		s.wg.Wait()
		s.members.end()
	})
	s.gauges.clear()
}

// watchConnection tells the rules of each reconnect: late copies of writes may be under way.
func (s *scheduler) watchConnection(ctx context.Context) {
	changes := s.conn.StatusChanged(nats.CONNECTED)
	defer s.conn.RemoveStatusListener(changes)
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changes:
			if !ok {
				return
			}
			s.put(tasks.Reconnected{})
		}
	}
}

// announceLast announces the outcomes whose writes were acknowledged after the loop had ended. The
// acknowledgement of the seal, for which retire has waited, comes after them.
func (s *scheduler) announceLast() {
	for _, m := range s.in.Drain(nil) {
		switch m := m.(type) {
		case singleDone:
			s.announcer.answered(m.w, m.result.Outcome == natskv.Won)
		case batchDone:
			for i := range m.list {
				s.announcer.answered(&m.list[i], m.result.Outcome == natskv.Won)
			}
		}
	}
	s.announcer.flush()
}
