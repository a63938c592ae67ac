package natstest

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
)

// Together lets at least n tests that call t.Parallel run at the same time, unless -test.parallel
// sets another number. It is for the TestMain of packages whose parallel tests wait most of the
// time. Their temporary files are in memory, as those of Main are.
func Together(n int) {
	parsed()
	inMemory()
	collectRarely()
	usual, parallel := runtime.GOMAXPROCS(0), flag.Lookup("test.parallel")
	if parallel.Value.String() != strconv.Itoa(usual) {
		return
	}
	if err := parallel.Value.Set(strconv.Itoa(max(n, usual))); err != nil {
		panic(fmt.Sprintf("natstest: %v", err)) // Set accepts every number
	}
}

// parsed has the flags of the test binary parsed.
func parsed() {
	if !flag.Parsed() {
		flag.Parse()
	}
}
