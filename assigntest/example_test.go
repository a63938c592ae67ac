package assigntest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
)

// greet is a handler under test.
func greet(_ context.Context, t *assign.Task[string]) (string, error) {
	if t.Input == "" {
		return "", assign.Permanent(errors.New("nobody to greet"))
	}
	return t.Header("salutation") + " " + t.Input, nil
}

var greeting = assign.NewKind[string, string]("greeting.v1")

func Example() {
	tb := &testing.B{} // in a test: t

	out, err := greet(context.Background(), assigntest.NewTask(tb, "world", assigntest.Header("salutation", "hello")))
	fmt.Println(out, err)
	_, err = greet(context.Background(), assigntest.NewTask(tb, ""))
	fmt.Println(err, assign.EndOf(context.Background(), err))
	// Output:
	// hello world <nil>
	// nobody to greet permanent
}

// add adds the numbers, and continues from the checkpoint of an earlier attempt.
func add(ctx context.Context, t *assign.Task[[]int]) (int, error) {
	done, sum := 0, 0
	if from := t.Checkpoint(); from != nil {
		if _, err := fmt.Sscan(string(from), &done, &sum); err != nil {
			return 0, assign.Permanent(err)
		}
	}
	for i := done; i < len(t.Input); i++ {
		sum += t.Input[i]
		at := strconv.Itoa(i+1) + " " + strconv.Itoa(sum)
		if err := t.Progress(ctx, float64(i+1)/float64(len(t.Input)), []byte(at)); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// A second attempt is a task with a checkpoint.
func ExampleProgress() {
	tb := &testing.B{} // in a test: t

	second := assigntest.NewTask(tb, []int{1, 2, 3, 4}, assigntest.Attempt(2), assigntest.Checkpoint([]byte("2 3")))
	fmt.Println(add(context.Background(), second))
	for _, r := range assigntest.Progress(second) {
		fmt.Printf("%.0f %% %q\n", 100*r.Fraction, r.Checkpoint)
	}
	// Output:
	// 10 <nil>
	// 75 % "3 6"
	// 100 % "4 10"
}
