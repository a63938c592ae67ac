package natsrun

import (
	"fmt"
	"sync"
)

// lastWords is a server's log. It keeps only the last error, which is the reason when a server does
// not come up. It is quiet otherwise.
type lastWords struct {
	mu   sync.Mutex
	last string
	end  bool // the last words are fatal: later ones are consequences
}

func (w *lastWords) keep(end bool, format string, v ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.end {
		w.last, w.end = fmt.Sprintf(format, v...), end
	}
}

// fatal reports whether the server has given up.
func (w *lastWords) fatal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return "it logged no error"
	}
	return w.last
}

func (w *lastWords) Fatalf(format string, v ...any) { w.keep(true, format, v...) }
func (w *lastWords) Errorf(format string, v ...any) { w.keep(false, format, v...) }
func (w *lastWords) Noticef(string, ...any)         {}
func (w *lastWords) Warnf(string, ...any)           {}
func (w *lastWords) Debugf(string, ...any)          {}
func (w *lastWords) Tracef(string, ...any)          {}
