package natsrun

import (
	"fmt"
	"sync"
)

// logger is the log of a server. It keeps only the last error, which is the reason when a server
// does not come up. It is quiet otherwise.
type logger struct {
	mu   sync.Mutex
	last string
	end  bool // the last error is fatal: later ones are consequences
}

func (w *logger) keep(end bool, format string, v ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.end {
		w.last, w.end = fmt.Sprintf(format, v...), end
	}
}

// fatal reports whether the server has given up.
func (w *logger) fatal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

func (w *logger) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return "it logged no error"
	}
	return w.last
}

func (w *logger) Fatalf(format string, v ...any) { w.keep(true, format, v...) }
func (w *logger) Errorf(format string, v ...any) { w.keep(false, format, v...) }
func (w *logger) Noticef(string, ...any)         {}
func (w *logger) Warnf(string, ...any)           {}
func (w *logger) Debugf(string, ...any)          {}
func (w *logger) Tracef(string, ...any)          {}
