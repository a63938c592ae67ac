// Command stepping is a server whose wall clock steps on command. natstest.SteppingServer builds
// and starts it.
package main

import (
	"fmt"
	"os"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

func main() {
	was, err := natsrun.Serve(stepWallClock)
	if err == nil && !was {
		err = fmt.Errorf("this is a part of a test: natstest.SteppingServer starts it")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
