package dashboard

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// redrawEvery is how soon a change is shown, and lookEvery how often the picture is compared
	// with the clock: a leader falls silent without an event.
	redrawEvery = 250 * time.Millisecond
	lookEvery   = time.Second
	// askEvery is how often a scheduler is asked while somebody looks, and unseen for how long after
	// the last look that is still so.
	askEvery = 2 * time.Second
	unseen   = 10 * time.Second
)

// hub has the one picture that all pages are drawn from.
type hub struct {
	options Options
	watched time.Time
	now     atomic.Pointer[picture]
	looked  atomic.Int64  // when somebody looked last, in Unix nanoseconds
	drawing sync.Mutex    // held while a picture is made
	asked   atomic.Int64  // when the schedulers had answered last, in Unix nanoseconds
	want    chan struct{} // holds one if somebody wants newer answers

	mu      sync.Mutex
	history history
	lost    time.Time
	answers []namespaceNow
	drawn   chan struct{} // closed with the next picture

	ended  <-chan struct{} // closed by close
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newHub(o Options) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{
		options: o, watched: time.Now(), history: newHistory(), drawn: make(chan struct{}), ended: ctx.Done(),
		want: make(chan struct{}, 1), cancel: cancel,
	}
	for _, c := range o.Tasks {
		h.answers = append(h.answers, namespaceNow{Name: c.Namespace(), DeadUnknown: true})
	}
	events := o.Observer.Events(ctx) // before the first look: a change in between is noted twice rather than never
	h.now.Store(h.look(h.watched))
	h.wg.Go(func() { h.askAlways(ctx) })
	h.wg.Go(func() {
		look := time.NewTicker(redrawEvery)
		defer look.Stop()
		dirty, drawn := false, h.watched
		for {
			select {
			case e, open := <-events:
				if !open {
					events = nil
				} else {
					h.mu.Lock()
					dirty = h.history.note(e) || dirty
					h.mu.Unlock()
				}
			case now := <-look.C:
				if dirty || now.Sub(drawn) >= lookEvery {
					h.draw(now)
					dirty, drawn = false, now
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return h
}

// draw makes the next picture, and wakes those that wait for it.
func (h *hub) draw(now time.Time) {
	h.drawing.Lock()
	defer h.drawing.Unlock()
	h.now.Store(h.look(now))
	h.mu.Lock()
	close(h.drawn)
	h.drawn = make(chan struct{})
	h.mu.Unlock()
}

// next is closed when there is a picture after the present one.
func (h *hub) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drawn
}

// picture is the present one. Somebody looks at it.
func (h *hub) picture() *picture {
	h.looked.Store(time.Now().UnixNano())
	return h.now.Load()
}

// add notes what the page itself has done, and shows it.
func (h *hub) add(what happening) {
	h.mu.Lock()
	h.history.add(what)
	h.mu.Unlock()
	h.draw(time.Now())
}

// events are those that were seen, the newest first.
func (h *hub) events() []happening {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.history.recent()
}

func (h *hub) close() {
	h.cancel()
	h.wg.Wait()
}
