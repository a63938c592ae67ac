package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rolemanager/rolemanager/discovery"
)

// replace writes a list beside the file, and renames it over the file, so that nobody reads half
// of it.
func replace(file, list string) {
	if err := os.WriteFile(file+".new", []byte(list), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		log.Fatal(err)
	}
}

// A manager follows the Servers of its configuration by itself. Any other client can follow them
// like this.
func ExampleFollow() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "servers")
	replace(file, "nats://nats-1:4222 north\n")

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	servers := discovery.File{Path: file, Every: 10 * time.Millisecond}
	err = discovery.Follow(ctx, servers, discovery.FollowOptions{
		Changed: func(list []discovery.Server) {
			for _, s := range list {
				fmt.Println(s.URL, "in zone", s.Zone)
			}
			if len(list) == 2 {
				stop() // for the example: the program ends
				return
			}
			fmt.Println("somebody adds a server")
			replace(file, "nats://nats-1:4222 north\nnats://nats-2:4222 south\n")
		},
		Failed: func(err error) { log.Println("the last list stays:", err) },
	})
	fmt.Println("stopped:", errors.Is(err, context.Canceled))
	// Output:
	// nats://nats-1:4222 in zone north
	// somebody adds a server
	// nats://nats-1:4222 in zone north
	// nats://nats-2:4222 in zone south
	// stopped: true
}
