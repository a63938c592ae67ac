package election

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// apart calls f in a goroutine of its own and, however f has ended, then is called there: with what
// f panicked with, and where; stack is nil when f returned. The goroutine is f's alone, since
// runtime.Goexit (a FailNow of package testing, for one) ends it and cannot be caught.
func apart(f func(), then func(value any, stack []byte)) {
	go func() {
		returned := false
		defer func() {
			if returned {
				then(nil, nil)
				return
			}
			value := recover()
			if value == nil {
				value = errGoexit
			}
			then(value, debug.Stack())
		}()
		f()
		returned = true
	}()
}

var errGoexit = errors.New("runtime.Goexit was called")

// rescue calls f apart and waits for it.
func rescue(f func()) (value any, stack []byte) {
	done := make(chan struct{})
	apart(f, func(v any, s []byte) {
		value, stack = v, s
		close(done)
	})
	<-done
	return value, stack
}

// call turns a panic into an error that carries its stack.
func call(f func() error) (err error) {
	if value, stack := rescue(func() { err = f() }); stack != nil {
		return panicked(value, stack)
	}
	return err
}

func panicked(value any, stack []byte) error { return fmt.Errorf("panic: %v\n%s", value, stack) }
