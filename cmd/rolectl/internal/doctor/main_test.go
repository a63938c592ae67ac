package doctor

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }
