package keyring_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
)

// A key is changed: the new one seals, and the old one still opens. A program gives its ring to
// assign.Config.Codec, which calls Seal and Open; here they are called by hand.
func ExampleNew() {
	january := keyring.Key{ID: "2026-01", Secret: bytes.Repeat([]byte{1}, 32)} // for the example; take random bytes
	february := keyring.Key{ID: "2026-02", Secret: bytes.Repeat([]byte{2}, 32)}
	before, err := keyring.New(january)
	if err != nil {
		log.Fatal(err)
	}
	after, err := keyring.New(february, january)
	if err != nil {
		log.Fatal(err)
	}

	about := []byte("the input of task 7") // is not stored, and has to be the same again
	id, sealed, err := before.Seal([]byte("card 4242"), about)
	if err != nil {
		log.Fatal(err)
	}
	opened, err := after.Open(id, sealed, about)
	fmt.Printf("%s opens %s: %v\n", id, opened, err)

	id, sealed, err = after.Seal([]byte("card 4242"), about)
	fmt.Println(id, "seals:", err)
	_, err = after.Open(id, sealed, []byte("the input of task 8"))
	fmt.Println("moved to another task:", errors.Is(err, assign.ErrTampered))
	_, err = before.Open(id, sealed, about)
	fmt.Println("the new key is missing:", errors.Is(err, assign.ErrUnknownKey))
	// Output:
	// 2026-01 opens card 4242: <nil>
	// 2026-02 seals: <nil>
	// moved to another task: true
	// the new key is missing: true
}
