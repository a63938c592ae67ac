package guard_test

import (
	"context"
	"fmt"
	"log"
	"os/exec"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/guard"
)

// A guard runs a program, and ends as the program has ended. Its server may come up later: until
// then the connection tries again.
func ExampleRun() {
	nc, err := nats.Connect(nats.DefaultURL, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()

	program := exec.Command("sh", "-c", "exit 3") // a program of yours, which has opened no session yet
	result, err := guard.Run(context.Background(), guard.Config{Conn: nc}, program)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range result.Left {
		log.Printf("the TTL ends the session of %s in %s: %v", s.Instance, s.Bucket, s.Err)
	}
	fmt.Println("sessions ended:", len(result.Killed))
	fmt.Println("exit code:", result.Code) // a guard gives it to os.Exit
	// Output:
	// sessions ended: 0
	// exit code: 3
}
