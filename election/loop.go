package election

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// message is what others ask of the loop: to hand an event to the machine, or to run something
// between its steps.
type message struct {
	event  protocol.Event
	fault  error               // why the outcome in event is unknown
	answer func(protocol.Done) // of a command: called by the loop, never blocks
	id     protocol.CommandID
	run    func(m *protocol.Machine, now record.Now)
}

// loop owns the machine: one goroutine that feeds it what happens and carries out what it wants. It
// never calls the connection, which may hang while the peer's TCP is frozen. Callers of the
// connection have their own goroutines, so the loop can end terms in time whatever they wait for.
type loop struct {
	s       *Session
	nc      *nats.Conn
	bucket  *natskv.Bucket
	writer  *natskv.Writer
	watcher *watcher
	control *control
	leaders *leaderCalls
	guard   *guardlink.Line
	source  *fencing.Source // of the tokens of all terms

	machine *protocol.Machine
	now     record.Now
	effects []protocol.Effect
	inbox   []message
	waiting map[protocol.CommandID]func(protocol.Done)
	led     map[string]*Election // whose term continues, by role
	width   protocol.Widen       // that the machine wants of the watch
	lately  *string              // the leader that was told of last, see leaderName
	ended   bool
	bare    bool // a lease was lost in this step: the next one offers nothing, see withdraw
	// undrained are the roles whose work had not returned when the machine ended.
	undrained []string
	told      told

	ctx    context.Context // ends when the loop has ended
	cancel context.CancelFunc
	wg     sync.WaitGroup // everything that the loop owns and joins
	users  sync.WaitGroup // what runs the user's code, which may not return
	over   chan struct{}  // closed when the machine is no longer the loop's

	mu    sync.Mutex
	fault error      // the last transient one
	still sync.Mutex // after over: one reader of the machine at a time
}

func newLoop(ctx context.Context, s *Session, nc *nats.Conn, bucket *natskv.Bucket) (*loop, error) {
	writer, err := natskv.NewWriter(nc, bucket)
	if err != nil {
		return nil, err
	}
	l := &loop{
		s: s, nc: nc, bucket: bucket, writer: writer,
		source:  &fencing.Source{Bucket: bucket.Name(), ID: bucket.Identity().ID},
		waiting: map[protocol.CommandID]func(protocol.Done){}, led: map[string]*Election{}, over: make(chan struct{}),
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if l.control, err = newControl(ctx, l); err != nil {
		l.cancel()
		writer.Close()
		return nil, err
	}
	l.watcher = newWatcher(l.ctx, &l.wg, nc, bucket, s.cfg.clock, filters(s.cfg))
	l.watcher.note, l.watcher.every = l.unwatched, s.cfg.TTL/3
	l.watcher.idle = record.IdleKey(peer(s.cfg.InstanceID, s.cfg.WorkerOnly))
	l.watcher.broken = func(err error) { s.post(protocol.Broken{Fault: err}) }
	l.leaders = newLeaderCalls(s, l.ctx)
	l.guard = s.toGuard(bucket)
	l.machine = protocol.New(s.machineConfig(bucket))
	return l, nil
}

func filters(cfg SessionConfig) []string {
	if cfg.WorkerOnly {
		return []string{record.CandidateFilter, record.WorkerFilter(cfg.InstanceID)}
	}
	return []string{record.CandidateFilter}
}

func (l *loop) start() {
	l.wg.Go(l.watcher.run)
	l.wg.Go(l.watchConnection)
	l.wg.Go(l.control.respond)
	l.users.Go(l.leaders.run)
	go l.run() // joined by Session.done
}

// run is the loop. A message, a batch of the watch or the machine's own timer is taken in turn.
func (l *loop) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.ended {
		select {
		case <-l.s.box.Ready():
			l.inbox = l.s.box.Drain(l.inbox)
			for i := range l.inbox {
				l.take(l.inbox[i])
				l.inbox[i] = message{}
			}
		case b := <-l.watcher.out:
			for i := range b.events {
				l.step(b.events[i])
			}
			if b.news() {
				l.pulseAll()
			}
		case <-timer.C:
			l.step(protocol.Tick{})
		}
		timer.Reset(l.machine.Next(l.read()))
	}
	l.shutdown()
}

func (l *loop) read() record.Now {
	now := l.s.cfg.clock.Now()
	return record.Now{Holder: record.Instant(now.Holder), Observer: record.Instant(now.Observer)}
}

func (l *loop) take(m message) {
	if m.answer != nil {
		if l.ended {
			m.answer(protocol.Done{ID: m.id, Err: protocol.ErrStopped})
			return
		}
		l.waiting[m.id] = m.answer
	}
	if m.fault != nil {
		l.note(m.fault)
	}
	if m.event != nil {
		l.step(m.event)
	}
	if m.run != nil {
		m.run(l.machine, l.read())
	}
}

// step hands one event to the machine. Terms end before trust is extended, so that nobody sees one
// that has ended as valid again.
func (l *loop) step(ev protocol.Event) {
	if l.ended {
		return
	}
	l.now = l.read()
	l.effects = l.machine.Step(l.now, ev, l.effects[:0])
	l.watcher.seen.Store(l.machine.View().Last())
	for _, e := range l.effects {
		l.execute(e)
	}
	clear(l.effects)
	if !l.ended {
		l.s.trust.extend(l.machine.TrustedUntil(), l.machine.LeaseUntil())
	}
	l.s.tellReliances()
	l.tellLease()
	if l.bare {
		l.bare = false
		l.step(nothing)
	}
}

// shutdown joins everything, in the order in which it depends on each other, and reports the end.
func (l *loop) shutdown() {
	s := l.s
	meta := s.meta() // while it still says which session this was
	s.trust.end()
	s.number.Store(0)
	s.box.Close()
	close(l.over)
	for _, m := range s.box.Drain(l.inbox) {
		l.take(m)
	}
	for id, answer := range l.waiting {
		answer(protocol.Done{ID: id, Err: protocol.ErrStopped})
	}
	drain, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	s.detach(drain)
	cancel()
	l.closeAfter(s.err)
	l.writer.Stop()
	l.cancel()
	l.control.stop()
	l.writer.Close()
	l.wg.Wait()
	within(s.cfg.DrainTimeout, &l.users)
	if s.err != nil && within(s.cfg.DrainTimeout, &s.terms) { // after a fault nobody has waited for the drain yet
		l.undrained = nil
	}
	if len(l.undrained) > 0 {
		s.left = &UndrainedError{l.undrained}
	}
	s.emit(event.SessionClosed{Meta: meta, Undrained: l.undrained})
	s.finishAll()
	within(s.cfg.OpTimeout, &s.checks)
	s.signer.Wipe()
	s.events.close(sinkPatience)
	close(s.done)
}

// within waits for wg, for at most d, and reports whether all have ended. Work that never returns
// keeps its own goroutine, and the one that waits here.
func within(d time.Duration, wg *sync.WaitGroup) bool {
	joined := make(chan struct{})
	go func() {
		wg.Wait()
		close(joined)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-joined:
		return true
	case <-timer.C:
		return false
	}
}

func (l *loop) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = err
}

// unwatched is told why there is no watch just now, and how often in a row.
func (l *loop) unwatched(err error, attempts int) {
	l.note(err)
	if l.nc.IsConnected() { // else that is known
		l.s.emit(event.Fault{Meta: l.s.meta(), Doing: "watch bucket", Err: public(err), Attempts: attempts})
	}
}

func (l *loop) lastFault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return public(l.fault)
}

// refused reports that the server refuses the credentials, and how often in a row that was found.
func (l *loop) refused(err error, attempts int) {
	away := &NotConnectedError{Servers: slices.Sorted(slices.Values(l.nc.Servers())), Err: err}
	l.note(away)
	l.s.emit(event.Fault{Meta: l.s.meta(), Doing: "connect", Err: away, Attempts: attempts})
}

// watchConnection tells the machine when the connection goes and comes, without touching any
// handler of the user's.
func (l *loop) watchConnection() {
	changes := l.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	defer l.nc.RemoveStatusListener(changes)
	look := time.NewTicker(l.s.cfg.HeartbeatInterval) // changes are dropped when they come too fast
	defer look.Stop()
	up := l.nc.IsConnected()
	l.connection(up, l.nc.Status())
	for refusals := 0; ; {
		var status nats.Status
		select {
		case <-l.ctx.Done():
			return
		case <-look.C:
			status = l.nc.Status()
		case status = <-changes: // the zero status, DISCONNECTED, when the connection was closed
		}
		if status == nats.CLOSED || l.nc.IsClosed() {
			l.s.post(protocol.Broken{Fault: closed(l.nc)})
			return
		}
		if refusal := l.nc.LastError(); !up && status != nats.CONNECTED && natsconn.Refused(refusal) {
			refusals++
			l.refused(refusal, refusals)
		} else {
			refusals = 0
		}
		if connected := status == nats.CONNECTED; connected != up {
			up = connected
			l.connection(up, status)
			if up {
				l.watcher.rebuild()
				l.learnRoom(l.bucket.Largest())
			}
		}
	}
}
