package code

import "strings"

// Words that a question is made of and code is not about. The first line of each language asks, the rest connects.
var stopWords = wordSet(`
how does do did what which where when why who whose whom is are was were be been being am
a an the and or not of in on at to for from by with without into onto over under about as if then than so but
it its this that these those there here we you i he she they them their our your my me us
can could will would shall should may might must has have had having please tell show explain describe find
there's what's it's does't don't vs via per also just only any some all each every
work works working worked happen happens happening happened mean means
wie was wo wann warum wer ist sind wird werden der die das den dem des ein eine einen einem und oder nicht von im zu mit für auf
como onde quando por que qual quem é são o os as um uma e ou não de do da dos das em no na para com`)

// Words that say little about where to look, though they may be part of the code.
var fillerWords = wordSet(`
decide decides decided determine determines choose chooses chosen handle handles handled handling use uses used using
implement implements implemented implementation define defines defined definition call calls called calling
make makes made get gets getting do done go goes going need needs want wants come comes keep keeps take takes
code source file files function functions method methods class line lines logic place way thing things
internally exactly actually really inside between during after before one two new own same other more most first last`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// abbreviations that programmers write so often that they say as much as the word. Each word of a line stands for the
// others. Any other beginning of a word, of four letters or more, is found as well, and counts less.
var abbreviations = abbreviationTable(`
address addr
allocate alloc
argument arg
array arr
authentication auth
authorization auth
buffer buf
channel chan
character char
collection gc
command cmd
configuration cfg conf config
connection conn
context ctx
control ctrl
copy cp
count cnt
current cur
database db
debug dbg
decode dec
delete del
destination dst dest
development dev
device dev
difference diff
directory dir
document doc
encode enc
environment env
error err
event evt
execute exec
expression expr
extension ext
field fld
function func fn
garbage gc
generate gen
graphics gfx
group grp
handler hnd
header hdr
identifier id ident
image img
index idx
information info
initialize init
input in
instruction instr insn
integer int
interface iface
iterator iter
kubernetes k8s
language lang
length len
library lib
list ls
manager mgr
maximum max
memory mem
message msg
minimum min
number num
object obj
operation op
option opt
output out
package pkg
parameter param
password passwd pwd
pattern pat
pointer ptr
position pos
previous prev
process proc
property prop
receive recv
reference ref
register reg
regular re
remove rm
repository repo
request req
resource res
response resp
result res
return ret
server srv
service svc
signal sig
size sz
socket sock
source src
standard std
statement stmt
string str
structure struct
syntax syn
system sys
table tbl
temporary tmp temp
text txt
thread thr
timestamp ts
token tok
transaction tx txn
user usr
utility util
value val
variable var
vector vec
version ver
virtual virt
window win`)

func abbreviationTable(text string) map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		for i, w := range words {
			for j, other := range words {
				if i != j {
					table[w] = append(table[w], other)
				}
			}
		}
	}
	return table
}
