package roles

import (
	"log/slog"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/event"
)

// LogSink logs every event. All lines have the same fields: bucket, instance, session, correlation
// (one id per session and term), and role and epoch where the event has them.
//
//	Debug   heartbeats, claims, other members, tasks, validations
//	Info    promotions, demotions, drains, rotations, changes of leader, vacancies, the session and the connection
//	Warn    what somebody should look at: stuck or returned work, lost sessions and connections, faults, kills, refusals
//	Error   panics
//
// A fault that repeats is logged once in ten seconds. No event holds a token, so no line holds a
// token. No line has the stack of the sink. With a nil logger nothing is
// logged, nor by the manager itself.
func LogSink(log *zap.Logger) event.Sink {
	if log == nil {
		log = zap.NewNop()
	}
	return newLogSink(zapOutput(log))
}

// SlogSink is [LogSink] for a logger of the standard library: the same lines, fields and levels.
func SlogSink(log *slog.Logger) event.Sink {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return newLogSink(slogOutput(log.Handler))
}

func newLogSink(to output) *logSink { return &logSink{to: to} }

// logs reports whether a sink logs by itself. One of metrics or traces does not.
func logs(s event.Sink) bool {
	_, ok := s.(*logSink)
	return ok
}

// logSink finds the line for each event, and passes it on.
type logSink struct {
	to   output
	said repeats
}

func (s *logSink) Observe(e event.Event) {
	if frequent(e) && !s.to.enabled(slog.LevelDebug) {
		return
	}
	s.say(describe(e), event.MetaOf(e))
}

// say writes a line, unless the line repeats an earlier line.
func (s *logSink) say(l line, m event.Meta) {
	if !s.to.enabled(l.level) || l.repeats != "" && s.said.lately(m.Instance+" "+l.repeats, time.Now()) {
		return
	}
	l.fields = append(l.fields, slog.String("bucket", m.Bucket), slog.String("instance", m.Instance),
		slog.Uint64("session", m.Session), slog.String("correlation", m.Correlation))
	s.to.write(l)
}

// repeats holds back a text that was already logged within the last ten seconds.
type repeats struct {
	mu    sync.Mutex
	began time.Time
	said  map[string]bool
}

const repeatEvery = 10 * time.Second

// lately reports whether that was said in the present ten seconds, and notes that it is said now.
func (r *repeats) lately(what string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil || now.Sub(r.began) >= repeatEvery {
		r.began, r.said = now, map[string]bool{}
	}
	said := r.said[what]
	r.said[what] = true
	return said
}
