package fencing_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/fencing"
)

// An election hands out tokens; here two terms of one role are made by hand.
func terms() (old, current fencing.Token) {
	return fencing.NewToken("billing", "node-1", 41, 0, uuid.New()),
		fencing.NewToken("billing", "node-2", 57, 0, uuid.New())
}

// A printer that takes orders only from the present leader.
func ExampleGuard() {
	old, current := terms()
	var guard fencing.Guard
	printPage := func(t fencing.Token, page string) {
		err := guard.Do(t, func() error {
			fmt.Println("printed", page)
			return nil
		})
		if err != nil {
			fmt.Println("refused", page, "because the token is stale:", errors.Is(err, fencing.ErrStale))
		}
	}
	printPage(old, "page 1")
	printPage(current, "page 2")
	printPage(old, "page 3") // was paused, and does not know better
	// Output:
	// printed page 1
	// printed page 2
	// refused page 3 because the token is stale: true
}

// A token travels as text, and prints without what makes it a proof.
func ExampleToken() {
	_, current := terms()
	received, err := fencing.Parse(current.Encode())
	fmt.Println(received, received.Equal(current), err)
	fmt.Printf("%+v\n", received)
	// Output:
	// billing@57 held by node-2 true <nil>
	// fencing.Token{Role:"billing", Holder:"node-2", Epoch:57, Seq:0, id:redacted}
}

// serve runs a NATS server in this process, for the example; a program connects to one that is
// there.
func serve() (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		log.Fatal("the server did not come up")
	}
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(dir) // a temporary directory
	}
}

// State that only the present leader can write, kept by the server itself.
func ExampleOpenStore() {
	if err := store(context.Background()); err != nil {
		fmt.Println("error:", err)
	}
	// Output:
	// node-2 reads "41"
	// node-1 is stale: true
	// node-2 reads "57"
}

func store(ctx context.Context) error {
	s, shutdown := serve()
	defer shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}

	old, current := terms()
	first, err := fencing.OpenStore(ctx, js, "billing", old, fencing.WithCreate(1))
	if err != nil {
		return err
	}
	if _, err := first.Put(ctx, "last-invoice", []byte("41")); err != nil {
		return err
	}

	// The next term opens the store, and sees all that the one before has written.
	second, err := fencing.OpenStore(ctx, js, "billing", current)
	if err != nil {
		return err
	}
	e, err := second.Latest(ctx, "last-invoice")
	if err != nil {
		return err
	}
	fmt.Printf("node-2 reads %q\n", e.Value)

	// The first one has not noticed that its term has ended. The server refuses it.
	_, err = first.Put(ctx, "last-invoice", []byte("42"))
	fmt.Println("node-1 is stale:", errors.Is(err, fencing.ErrStale))

	if _, err := second.Put(ctx, "last-invoice", []byte("57")); err != nil {
		return err
	}
	e, err = second.Latest(ctx, "last-invoice")
	if err != nil {
		return err
	}
	fmt.Printf("node-2 reads %q\n", e.Value)
	return nil
}

// Frames between processes are signed by the session that holds the term.
func ExampleSigner() {
	signer, err := fencing.NewSigner()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer signer.Wipe()
	verifier, err := fencing.NewVerifier(signer.PublicKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	signature := signer.Sign([]byte("assign task 7"))
	fmt.Println(verifier.Verify([]byte("assign task 7"), signature))
	fmt.Println(verifier.Verify([]byte("assign task 8"), signature))
	// Output:
	// <nil>
	// fencing: signature does not verify
}
