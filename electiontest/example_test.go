package electiontest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
)

// lead is the work under test.
func lead(ctx context.Context, t *election.Term) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func Example() {
	tb := &testing.B{} // in a test: t

	ctx, term, end := electiontest.NewTerm(tb, "scheduler")
	returned := make(chan error)
	go func() { returned <- lead(ctx, term) }()
	fmt.Println("valid:", term.Valid())

	end(election.ErrSessionLost)
	fmt.Println("stopped because of the loss:", errors.Is(<-returned, election.ErrSessionLost))
	fmt.Println("valid:", term.Valid())
	// Output:
	// valid: true
	// stopped because of the loss: true
	// valid: false
}
