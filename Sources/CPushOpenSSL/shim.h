#ifndef CPUSH_OPENSSL_SHIM_H
#define CPUSH_OPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_EC_gen is a macro over a variadic function.
static inline EVP_PKEY *cpush_generate_p256(void) { return EVP_EC_gen("P-256"); }

// EVP_RSA_gen is a macro over a variadic function.
static inline EVP_PKEY *cpush_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }

// EVP_PKEY_KEYPAIR and EVP_PKEY_PUBLIC_KEY are macros over macros.
static const int cpush_select_key_pair = EVP_PKEY_KEYPAIR;
static const int cpush_select_public_key = EVP_PKEY_PUBLIC_KEY;

// BIO_get_mem_data is a function-like macro.
static inline long cpush_bio_memory(BIO *bio, char **start) { return BIO_get_mem_data(bio, start); }

// SSL_CTX_set_min_proto_version is a function-like macro.
static inline int cpush_ctx_require_tls12(SSL_CTX *ctx) { return (int)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION); }

// SSL_CTX_set_max_proto_version is a function-like macro.
static inline int cpush_ctx_limit_to_tls12(SSL_CTX *ctx) { return (int)SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION); }

// SSL_CTX_set_mode is a function-like macro.
static inline void cpush_ctx_release_buffers(SSL_CTX *ctx) { SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); }

// SSL_CTX_set_session_cache_mode and the SSL_OP_ bits are function-like macros.
static inline void cpush_ctx_keep_no_sessions(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
}

// The SSL_OP_ bits are function-like macros.
static inline void cpush_ctx_set_options(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

// SSL_CTX_add1_chain_cert is a function-like macro.
static inline int cpush_ctx_add_chain(SSL_CTX *ctx, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(ctx, certificate);
}

// SSL_set_tlsext_host_name is a function-like macro.
static inline int cpush_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

#endif
