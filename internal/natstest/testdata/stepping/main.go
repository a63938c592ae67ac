// Command stepping is a server whose wall clock steps on command. It compiles only with the overlay
// of natstest.SteppingServer, which gives package time the function that it calls.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

func main() {
	was, err := natsrun.Serve(time.StepWallClock)
	if err == nil && !was {
		err = fmt.Errorf("this is a part of a test: natstest.SteppingServer starts it")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
