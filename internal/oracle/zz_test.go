package oracle_test
import ("testing"; "time"
"sibyl/internal/model/offline"
"sibyl/internal/oracle"
"sibyl/internal/tool/code")
func TestZZ(t *testing.T){ 
 root, err := code.Open("../.."); if err != nil { t.Fatal(err) }
 for _, q := range []string{"How does a run keep an effect that writes from being repeated after a crash?", "How does the extractor hold back text that may still be a signal?","Where is a citation of an unread place reported?", "What does the quetzalcoatl frobnicator do in the code?", "Thanks!", "What's the weather in Paris?", "Create a note about caching", "Where is code_quagga defined?"} {
 h := setUp(t)
 clear(h.world.tools)
 for _, x := range root.Tools() { h.world.put(x) }
 h.env.Vault, h.env.Web = "", false
 h.model = offline.New(map[string]offline.Rule{oracle.Purpose: oracle.OfflineRule})
 b := time.Now()
 a := h.ask(q)
 t.Logf("%s\n%s %s %v turns=%d %v\ncited %v uns %v\n%s\n-----", q, a.QueryType, a.StopReason, a.Signal, a.Turns, time.Since(b), cites(a), a.Unsupported, a.Answer)
 }
}
