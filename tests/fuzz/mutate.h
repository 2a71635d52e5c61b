// How the fuzzers change what they have: by the words of graph text and the sections of files,
// where bytes changed at random would never get past the lexer or a hash.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace lathe::fuzz {

/// Another text of a graph: words, lines and arguments replaced, repeated, taken away or swapped.
std::string mutate_text(std::string_view text, std::mt19937_64& random);
/// Another file: one of its sections, or a number of its tables, changed; the hashes right again.
/// Of what is no file, a small one is made.
std::string mutate_file(std::string_view bytes, std::mt19937_64& random);

}  // namespace lathe::fuzz
