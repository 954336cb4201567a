#!/bin/sh
# Fails where a room's objects call what only rooms define that it may not use: calls.sh NM TABLE
# A line of TABLE is a room, those that it may use, and its objects: "eager|core vulkan|a.o b.o".
set -eu
wrong=$(
  while IFS='|' read -r room may objects; do
    echo "may $room $room $may"
    # shellcheck disable=SC2086  # several words
    "$1" -P $objects | awk -v room="$room" '
      $2 == "U" { print "use", room, $1 }
      $2 ~ /^[A-TV-Zu]$/ { print "def", room, $1 }'
  done <"$2" | awk '
    $1 == "may" { for (i = 3; i <= NF; ++i) may[$2, $i] = 1 }
    $1 == "def" { rooms[$3] = rooms[$3] " " $2; ++defined }
    $1 == "use" { uses[++used] = $2 " " $3 }
    END {
      if (!defined || !used) print "the objects have no symbols"
      for (i = 1; i <= used; ++i) {
        split(uses[i], use, " ")
        count = split(rooms[use[2]], by, " ")
        allowed = count == 0  # of a library that is none of kbench
        for (j = 1; j <= count; ++j) if ((use[1], by[j]) in may) allowed = 1
        if (!allowed) print use[1] " calls " use[2] " of" rooms[use[2]]
      }
    }')
if [ -n "$wrong" ]; then
  echo "$wrong" | c++filt
  exit 1
fi
