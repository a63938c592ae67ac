package controllerruntime

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if name := os.Getenv(operatorName); name != "" {
		if err := operate(name); err != nil {
			fmt.Println("ended with", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	stopCluster()
	os.Exit(code)
}
