package systemd

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/rolemanager/rolemanager/event"
)

// Present reports whether a service manager listens for this process.
func Present() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// WithoutIt is an environment in which a process does not speak to the service manager: that of one
// whose parent does.
func WithoutIt(environ []string) []string {
	return without(environ, "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
}

// OnBehalf is an environment in which a process speaks to the service manager though that has
// started its parent. The unit needs NotifyAccess=all.
func OnBehalf(environ []string) []string { return without(environ, "WATCHDOG_PID") }

func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// Notifier speaks for one session. It is a sink of its events. Observe never waits: another
// goroutine sends, and of two messages in a row the later one may be the only one.
type Notifier struct {
	failed func(error)
	wake   chan struct{} // size 1: something has changed
	stop   chan struct{}
	over   chan struct{}

	within, every time.Duration // sendWithin and extendEvery, if a test has set no others

	unheard bool // the last message could not be sent; of the goroutine that sends

	mu       sync.Mutex
	open     bool // there is a session now
	lost     string
	draining bool
	leads    map[string]uint64
}

// New makes a notifier, nil if nobody listens. failed is called when a message could not be sent.
func New(failed func(error)) *Notifier {
	if !Present() {
		return nil
	}
	return &Notifier{
		failed: failed, wake: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{}),
		leads: map[string]uint64{}, within: sendWithin, every: extendEvery,
	}
}

// How often more time is asked for while the session drains, and how much: a process that has come
// to a stop gets no more.
const (
	extendEvery = time.Second
	extendBy    = 10 * time.Second
)

// Start begins to send. alive is called for each sign of life, and returns when the loop of the
// session has answered. Stop ends it.
func (n *Notifier) Start(alive func()) {
	if n != nil {
		go n.run(alive)
	}
}

// Drain says that the session is being closed.
func (n *Notifier) Drain() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.draining = true
	n.mu.Unlock()
	n.changed()
}

// Stop ends the notifier when it has said that the session drains, and waits for that: for twice
// sendWithin at most, if the service manager is stuck.
func (n *Notifier) Stop() {
	if n != nil {
		close(n.stop)
		<-n.over
	}
}

// Observe takes an event of the session.
func (n *Notifier) Observe(e event.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e := e.(type) {
	case event.SessionOpened:
		n.open, n.lost = true, ""
	case event.SessionLost:
		n.open, n.lost = false, e.Reason
		clear(n.leads)
	case event.RolePromoted:
		n.leads[e.Role] = e.Epoch
	case event.RoleRotated:
		n.leads[e.Role] = e.Epoch
	case event.RoleDemoted:
		delete(n.leads, e.Role)
	default:
		return
	}
	n.changed()
}

func (n *Notifier) changed() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *Notifier) run(alive func()) {
	defer close(n.over)
	var watchdog, extend <-chan time.Time
	if every, err := daemon.SdWatchdogEnabled(false); err != nil {
		n.failed(err)
	} else if every > 0 {
		t := time.NewTicker(every / 3)
		defer t.Stop()
		watchdog = t.C
	}
	before := ""
	var again <-chan time.Time // what could not be said is said again
	for {
		select {
		case <-n.stop:
			if _, draining := n.state(); draining && extend == nil { // it drained faster than we were woken
				n.send(more)
			}
			return
		case <-watchdog:
			alive()
			n.send(daemon.SdNotifyWatchdog)
			continue
		case <-extend:
			alive()
			n.send(more)
			continue
		case <-n.wake:
		case <-again:
		}
		again = nil
		state, draining := n.state()
		if draining && extend == nil {
			t := time.NewTicker(n.every)
			defer t.Stop()
			extend = t.C
			n.send(more)
		}
		if state == "" || state == before {
			continue
		}
		if n.send(state) {
			before = state
		} else {
			again = time.After(n.within)
		}
	}
}

// more says that the session drains, and asks for time. It is repeated.
var more = fmt.Sprint(daemon.SdNotifyStopping, "\nEXTEND_TIMEOUT_USEC=", extendBy.Microseconds())

// mostNamed is how many roles the status names.
const mostNamed = 8

// state is what is to be said, "" for nothing.
func (n *Notifier) state() (text string, draining bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch names := slices.Sorted(maps.Keys(n.leads)); {
	case n.draining && len(names) == 0:
		return "STATUS=drains", true
	case !n.open && n.lost != "":
		return "STATUS=has lost its session: " + n.lost, n.draining
	case !n.open:
		return "", n.draining
	case len(names) == 0:
		return daemon.SdNotifyReady + "\nSTATUS=leads nothing", n.draining
	default:
		list := []string{}
		for _, name := range names[:min(len(names), mostNamed)] {
			list = append(list, fmt.Sprint(name, "@", n.leads[name]))
		}
		if more := len(names) - len(list); more > 0 {
			list = append(list, fmt.Sprint(more, " more"))
		}
		return daemon.SdNotifyReady + "\nSTATUS=leads " + strings.Join(list, ", "), n.draining
	}
}

// sendWithin bounds a message: the service manager may be stuck, and then its socket takes no more.
const sendWithin = time.Second

// send sends a message, and reports whether it was sent. The first of several in a row that was not
// is told of.
func (n *Notifier) send(state string) bool {
	err := tell(state, n.within)
	if err != nil && !n.unheard {
		n.failed(fmt.Errorf("tell the service manager: %w", err))
	}
	n.unheard = err != nil
	return err == nil
}

// tell is daemon.SdNotify with a time limit.
func tell(state string, within time.Duration) error {
	to := &net.UnixAddr{Name: os.Getenv("NOTIFY_SOCKET"), Net: "unixgram"}
	conn, err := net.DialUnix(to.Net, nil, to)
	if err != nil {
		return err
	}
	defer conn.Close() // nothing is lost: a message is sent or not
	if err := conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return err
}
